#include "otlp/otlp.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/redact.hpp"
#include "host/entropy.hpp"
#include "http_client/http_client.hpp"
#include "http_client/gzip.hpp"
#include "otlp/otlp_tracer.hpp"
#include "otlp/span_export.hpp"

namespace sluice::otlp {
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

/// The queue, the tracer that fills it and the thread that empties it.
class Traces {
 public:
  Traces(const OtlpOptions& options, const telemetry::Logger& logger)
      : last_moment_(options.last_moment),
        queue_(options.queue_limit, options.batch),
        tracer_(queue_, {options.sampler}),
        client_(client_options(options, options.traces_url)),
        export_(queue_, {[this, gzipped = options.gzip](const std::string& body, const std::stop_token& stop) {
                           return client_.post(gzipped ? http_client::gzip(body) : body, stop);
                         },
                         options.sender, redact_address(options.traces_url), logger}),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Traces() { stop(); }
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  Tracer& tracer() { return tracer_; }
  [[nodiscard]] telemetry::SpanCounts counts() const { return export_.counts(); }

  void stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    {
      std::unique_lock lock{mutex_};
      over_.wait_for(lock, last_moment_, [this] { return ended_; });
    }
    abandon_.request_stop();
    thread_.join();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Duration rest = export_.step(abandon_.get_token());
      // Where the collector is away, a full queue is no reason to hurry.
      export_.in_trouble() ? pause(stop, rest) : queue_.wait(stop, rest);
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
  SpanQueue queue_;
  OtlpTracer tracer_;
  http_client::HttpClient client_;
  SpanExport export_;
  std::stop_source abandon_;
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
    if (!options_.traces_url.empty()) traces_.emplace(options_, logger_);
  }

  [[nodiscard]] Tracer* tracer() override { return traces_ ? &traces_->tracer() : nullptr; }
  [[nodiscard]] telemetry::SpanCounts span_counts() const override {
    return traces_ ? traces_->counts() : telemetry::SpanCounts{};
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
    if (traces_) traces_->stop();
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
  std::optional<Traces> traces_;
};

}  // namespace

std::unique_ptr<telemetry::Exporting> open_otlp(OtlpOptions options, const telemetry::Logger& logger) {
  return std::make_unique<Otlp>(std::move(options), logger);
}

}  // namespace sluice::otlp
