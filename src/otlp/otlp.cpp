#include "otlp/otlp.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/redact.hpp"
#include "host/entropy.hpp"
#include "http_client/gzip.hpp"
#include "http_client/http_client.hpp"
#include "otlp/batch_export.hpp"
#include "otlp/export_queue.hpp"
#include "otlp/otlp_tracer.hpp"

namespace sluice::otlp {
namespace {

constexpr std::uint64_t kAll = std::uint64_t{1} << 56U;

}  // namespace

Sampler::Sampler(SamplerRules rules)
    : by_parent_(rules.by_parent),
      threshold_(static_cast<std::uint64_t>(
          std::llround((1 - std::clamp(rules.ratio, 0.0, 1.0)) * static_cast<double>(kAll)))) {}

bool Sampler::samples(std::optional<bool> parent, std::uint64_t trace_low) const {
  if (by_parent_ && parent) return *parent;
  return (trace_low & (kAll - 1)) >= threshold_;
}

namespace {

constexpr Duration kConnectTimeout = std::chrono::seconds{3};

http_client::HttpClientOptions client_options(const OtlpOptions& options, const std::string& url) {
  http_client::HttpClientOptions client;
  client.url = url;
  client.headers = {"content-type: application/json", "user-agent: sluice/" + options.sender.version, "Expect:"};
  if (options.gzip) client.headers.emplace_back("content-encoding: gzip");
  client.headers.insert(client.headers.end(), options.headers.begin(), options.headers.end());
  client.connect_timeout = std::min(kConnectTimeout, options.timeout);
  client.timeout = options.timeout;
  return client;
}

struct PipelineTerms {
  std::string url;
  std::string_view what;  ///< a literal: how the log names what is sent
};

/// A queue and the thread that empties it.
template <class Record>
class Pipeline {
 public:
  Pipeline(const PipelineTerms& terms, typename WaitingRecords<Record>::Write write, const OtlpOptions& options,
           const telemetry::Logger& logger)
      : last_moment_(options.last_moment),
        queue_(std::make_shared<ExportQueue<Record>>(options.queue_limit, options.batch)),
        waiting_(*queue_, write, options.sender),
        client_(client_options(options, terms.url)),
        export_(waiting_, {[this, gzipped = options.gzip](const std::string& body, const std::stop_token& stop) {
                             return client_.post(gzipped ? http_client::gzip(body) : body, stop);
                           },
                           terms.what, redact_address(terms.url), logger}),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Pipeline() {
    ask_to_stop();
    stop();
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Whoever holds it may go on adding after the end.
  [[nodiscard]] const std::shared_ptr<ExportQueue<Record>>& queue() const { return queue_; }
  [[nodiscard]] telemetry::ExportCounts counts() const { return export_.counts(); }

  void ask_to_stop() {
    if (!thread_.joinable() || thread_.get_stop_token().stop_requested()) return;
    stop_by_ = std::chrono::steady_clock::now() + last_moment_;
    thread_.request_stop();
  }
  void stop() {
    if (!thread_.joinable()) return;
    {
      std::unique_lock lock{mutex_};
      over_.wait_until(lock, stop_by_, [this] { return ended_; });
    }
    abandon_.request_stop();
    thread_.join();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Duration rest = export_.step(abandon_.get_token());
      // Where the collector is away, a full queue is no reason to hurry.
      export_.in_trouble() ? pause(stop, rest) : queue_->wait(stop, rest);
    }
    // Until nothing is left, or the collector is away.
    while (!export_.empty() && !abandon_.stop_requested()) {
      export_.step(abandon_.get_token());
      if (export_.in_trouble()) break;
    }
    export_.give_up();
    const std::lock_guard lock{mutex_};
    ended_ = true;
    over_.notify_all();
  }

  void pause(const std::stop_token& stop, Duration rest) {
    std::unique_lock lock{mutex_};
    never_.wait_for(lock, stop, rest, [] { return false; });
  }

  const Duration last_moment_;
  std::shared_ptr<ExportQueue<Record>> queue_;
  WaitingRecords<Record> waiting_;
  http_client::HttpClient client_;
  BatchExport export_;
  std::stop_source abandon_;
  std::chrono::steady_clock::time_point stop_by_;
  std::mutex mutex_;
  std::condition_variable over_;
  std::condition_variable_any never_;
  bool ended_ = false;
  std::jthread thread_;  // last: it uses the others
};

class Otlp final : public telemetry::Exporting {
 public:
  Otlp(OtlpOptions options, telemetry::Logger logger)
      : options_(std::move(options)), logger_(std::move(logger)), since_(host::wall_clock()) {
    if (!options_.traces_url.empty()) {
      spans_.emplace(PipelineTerms{options_.traces_url, "traces"}, traces_json, options_, logger_);
      tracer_.emplace(*spans_->queue(), OtlpTracerOptions{options_.sampler});
    }
    if (options_.logs_url.empty()) return;
    logs_.emplace(PipelineTerms{options_.logs_url, "logs"}, logs_json, options_, logger_);
    tap_ = std::make_shared<const telemetry::LogTap>(
        [queue = logs_->queue()](const telemetry::LogRecord& record) { queue->add(entry_of(record)); });
  }

  [[nodiscard]] Tracer* tracer() override { return tracer_ ? &*tracer_ : nullptr; }
  [[nodiscard]] telemetry::ExportCounts span_counts() const override {
    return spans_ ? spans_->counts() : telemetry::ExportCounts{};
  }
  [[nodiscard]] std::shared_ptr<const telemetry::LogTap> log_tap() const override { return tap_; }
  [[nodiscard]] telemetry::ExportCounts log_counts() const override {
    return logs_ ? logs_->counts() : telemetry::ExportCounts{};
  }
  [[nodiscard]] bool exports_metrics() const override { return !options_.metrics_url.empty(); }

  // What one request misses, the next one has: they are totals. A connection every half minute is opened anew.
  Duration send_metrics(const telemetry::Registry& registry, const std::stop_token& stop) override {
    const std::string body = metrics_json(registry, {since_, host::wall_clock()}, options_.sender);
    http_client::HttpClient client{client_options(options_, options_.metrics_url)};
    const auto answer = client.post(options_.gzip ? http_client::gzip(body) : body, stop);
    if (!stop.stop_requested()) note(answer);
    return options_.metric_interval;
  }

  void stop() override {
    // Both have the same moment.
    if (spans_) spans_->ask_to_stop();
    if (logs_) logs_->ask_to_stop();
    if (spans_) spans_->stop();
    if (logs_) logs_->stop();
  }

 private:
  void note(const http_client::Answer& answer) {
    const bool taken = fate_of(answer) == Fate::taken;
    if (std::exchange(in_trouble_, !taken) == !taken) return;
    const telemetry::LogField target{"collector", redact_address(options_.metrics_url)};
    if (taken) return logger_.info("metrics are exported again", {target});
    logger_.warn("metrics are not exported: " + described(answer), {target});
  }

  OtlpOptions options_;
  telemetry::Logger logger_;
  Timestamp since_;
  bool in_trouble_ = false;
  std::optional<Pipeline<SpanRecord>> spans_;
  std::optional<OtlpTracer> tracer_;
  std::optional<Pipeline<LogEntry>> logs_;
  std::shared_ptr<const telemetry::LogTap> tap_;
};

}  // namespace

std::unique_ptr<telemetry::Exporting> open_otlp(OtlpOptions options, const telemetry::Logger& logger) {
  return std::make_unique<Otlp>(std::move(options), logger);
}

}  // namespace sluice::otlp
