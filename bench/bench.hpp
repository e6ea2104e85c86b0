// The parts that the benchmarks share: options from the command line, sample events, one result line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sluice/tracer.hpp>
#include "store/store.hpp"

namespace sluice::bench {

/// `--name value` pairs; numbers with defaults.
class Options {
 public:
  Options(int argc, char** argv, int first);
  [[nodiscard]] std::int64_t number(const std::string& name, std::int64_t otherwise) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

/// The SQLite file that is measured.
inline std::string file_of(const Options& options) { return options.text("file", "sluice_bench.db"); }

/// Opens --dsn (`postgres://…` or `sqlite:PATH`), or ends the program with the store's own sentence.
std::unique_ptr<store::Store> open(const Options& options, int connections);

/// Ends the program with the error when there is one.
template <class T>
T must(Result<T> result);
[[noreturn]] void fail(const Error& error);

/// Events whose rows are about 400 bytes, with ids that sort by `first + i`. They occur now, or when `occurring` says,
/// by their place.
using Occurring = std::function<Timestamp(std::size_t place)>;
std::vector<store::NewEvent> sample_events(std::size_t count, Generation generation = 1,
                                           const Occurring& occurring = {});

/// What a backlog is like.
struct Backlog {
  std::int64_t keys = 0;    // with them, every second event has one of so many ordering keys
  std::int64_t months = 0;  // with them, the events occurred in so many months, this one the last
  bool mixed = false;       // and each in another month than the one before it; else month by month, the oldest first
};

/// Publishes `count` sample events in batches.
void fill(store::Store& store, std::int64_t count, const Backlog& backlog = {});

/// The value below which `part` of them lie; 0 when there are none.
double percentile(std::vector<double> values, double part);

/// To the collector that the options name; none: nothing is traced.
std::shared_ptr<Tracer> tracer(const Options& options);

/// One JSON object on standard output.
void report(std::string_view bench, double value, std::string_view unit, std::string_view detail_json = "{}");

int broker_consume(const Options& options);
int claim_latency(const Options& options);
int consume(const Options& options);
int drain(const Options& options);
int drain_processes(const Options& options);
int idle_listeners(const Options& options);
int latency(const Options& options);
int publish_single(const Options& options);
int publish_batch(const Options& options);
int raw_batch(const Options& options);
int raw_consume(const Options& options);
int raw_relay(const Options& options);
int receiver(const Options& options);
int relay(const Options& options);
int sqlite_drain(const Options& options);
int sqlite_publish(const Options& options);
int sqlite_raw_drain(const Options& options);
int sqlite_raw_publish(const Options& options);

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace sluice::bench
