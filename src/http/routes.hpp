// What the routes work with, for the life of the server, and the routes by what they are about. Everything is reached
// from several threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sluice/tracer.hpp>
#include "core/dead_letter_levels.hpp"
#include "core/retention.hpp"
#include "host/entropy.hpp"
#include "http/router.hpp"
#include "ops/event_change.hpp"
#include "ops/history.hpp"
#include "ops/relay.hpp"
#include "ops/schema.hpp"
#include "sink/sink.hpp"

namespace sluice::http {

/// The sinks of this process; what all processes share of them is in the store.
class LocalSinks {
 public:
  virtual ~LocalSinks() = default;
  [[nodiscard]] virtual std::vector<sink::SinkStatus> list() const = 0;
  /// Their state in the store has changed: takes it over now instead of within seconds.
  virtual void refresh() = 0;
  /// not_found when there is no such sink.
  virtual Result<sink::ProbeReport> probe(const std::string& name) = 0;
};

/// Metrics in the format that was asked for.
struct Exposed {
  std::string type;
  std::string text;
};

struct Context {
  store::Administering& store;
  host::Entropy entropy;
  Generation generation = kFirstGeneration;  ///< that the workers of this process claim
  RetentionPolicies retention;
  DeadLetterLevels dead_letters;
  std::string version;
  bool read_only = false;
  ops::EditPolicy edit{};            ///< of payloads of dead letters
  broker::Broker* broker = nullptr;  ///< none is configured
  ops::RelaySettings relay{};
  LocalSinks* sinks = nullptr;                                          ///< none: this process delivers nothing
  std::function<std::string(const ops::ChartWindow& window)> overview;  ///< JSON, for this much of the past
  std::function<Exposed(std::string_view accept)> metrics;
  /// Nothing stands in the way of serving: false while stopping.
  std::function<bool()> ready;
  /// Why this process delivers nothing at present though it should; none: it does. May be empty.
  std::function<std::optional<Error>()> trouble;
  /// Something was started or changed that the operations' service should look at.
  std::function<void()> wake;
  /// Events were stored that a worker may claim.
  std::function<void()> claimable;
  Tracer* tracer = nullptr;  ///< none: nothing is traced
  std::string trace_url{};   ///< with `{trace_id}` in it; empty: none
};

// The routes, by what they are about. Each takes its context, which outlives the server.

std::vector<Route> event_routes(Context& context);
std::vector<Route> dead_letter_routes(Context& context);
std::vector<Route> filter_routes(Context& context);
std::vector<Route> operation_routes(Context& context);
std::vector<Route> generation_routes(Context& context);
std::vector<Route> sink_routes(Context& context);
std::vector<Route> system_routes(Context& context);  ///< me, overview, status, doctor, workers, storage, audit …
std::vector<Route> probe_routes(Context& context);   ///< health, metrics, openapi.json

// The console's files, from the table in the binary.

/// `prefix` as in ApplicationOptions. The console's screens get the start page; every other path is not found.
std::vector<Route> console_routes(const std::string& prefix);

}  // namespace sluice::http
