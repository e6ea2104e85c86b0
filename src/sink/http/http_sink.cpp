#include "sink/http/http_sink.hpp"

#include <mutex>

#include "core/redact.hpp"
#include "sink/http/courier.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {
namespace {

// Receivers refuse signatures that are older than five minutes.
constexpr Duration kOldSignature = std::chrono::minutes{1};

SinkState state_of(CircuitBreaker::State state) {
  switch (state) {
    case CircuitBreaker::State::closed:
      return SinkState::active;
    case CircuitBreaker::State::open:
      return SinkState::open;
    case CircuitBreaker::State::half_open:
      return SinkState::half_open;
  }
  return SinkState::active;
}

CourierOptions courier_options(const HttpSinkOptions& options) {
  return {options.url,
          fixed_headers(options.request.format, SLUICE_VERSION, options.headers),
          options.connect_timeout,
          options.timeout,
          options.concurrency,
          AddressGuard{options.allowed}};
}

class HttpSink final : public SwitchedSink {
 public:
  explicit HttpSink(HttpSinkOptions options)
      : SwitchedSink({options.name, "http", redact_address(options.url), options.rate}, options.clock),
        options_(std::move(options)),
        target_(redact_address(options_.url)),
        breaker_(options_.breaker),
        courier_(courier_options(options_), {[this](Exchange& exchange) { return may_begin(exchange); },
                                             [this](Exchange& exchange) { ended(exchange); }}) {}

  ProbeReport probe(const EventEnvelope& event) override {
    Exchange exchange;
    exchange.event = &event;
    exchange.request = {event, options_.request, now()};
    exchange.trial = true;
    courier_.run({&exchange, 1}, {});
    const Verdict verdict = verdict_of(exchange);
    const bool ok = verdict.kind == Verdict::Kind::handled;
    return {ok, ok ? std::to_string(exchange.answer.status) : verdict.error_class, described(exchange.answer),
            exchange.took};
  }

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) override {
    std::vector<Exchange> exchanges(events.size());
    const Timestamp signed_at = now();
    for (std::size_t i = 0; i < events.size(); ++i) {
      exchanges[i].event = &events[i];
      exchanges[i].request = {events[i], options_.request, signed_at};
    }
    courier_.run(exchanges, delivery.stop);
    std::vector<Verdict> verdicts;
    verdicts.reserve(exchanges.size());
    for (const Exchange& exchange : exchanges) verdicts.push_back(verdict_of(exchange));
    return verdicts;
  }

  [[nodiscard]] Verdict verdict_of(const Exchange& exchange) const {
    if (!exchange.begun) return Verdict::defer_for(exchange.wait.value_or(Duration::zero()));
    return sink::verdict_of(exchange.answer, options_.statuses, target_, now());
  }

  // On the courier's thread.
  bool may_begin(Exchange& exchange) {
    if (exchange.trial) return true;
    if (is_disabled()) {
      exchange.wait = kStoppedSinkWait;
      return false;
    }
    {
      const std::lock_guard lock{mutex_};
      const Timestamp asked = now();
      if (const auto until = breaker_.ask(asked)) exchange.wait = *until - asked;
    }
    if (exchange.wait) return false;
    if (now() - exchange.request.signed_at() > kOldSignature) {
      exchange.request = {*exchange.event, options_.request, now()};
    }
    return true;
  }

  // On the courier's thread.
  void ended(const Exchange& exchange) {
    if (exchange.trial) return;
    record_latency(exchange.took);
    if (is_gone(exchange.answer, options_.statuses)) disable(said(exchange.answer));
    const std::lock_guard lock{mutex_};
    const CircuitBreaker::State before = breaker_.state();
    if (is_trouble(exchange.answer)) {
      breaker_.failed(now());
    } else {
      exchange.answer.status == 0 ? breaker_.abandoned() : breaker_.succeeded();
    }
    if (before == breaker_.state()) return;
    if (breaker_.state() == CircuitBreaker::State::open) {
      tell({SinkNews::What::circuit_opened, options_.breaker.rest, said(exchange.answer)});
    } else {
      tell({SinkNews::What::circuit_closed, {}, said(exchange.answer)});
    }
  }

  // Without the answer's own words: this is kept, audited and shown where payloads are not.
  [[nodiscard]] std::string said(const Answer& answer) const {
    return answer.status == 0 ? "no answer from " + target_ + ": " + std::string{sink::name(answer.reason)}
                              : target_ + " answered " + std::to_string(answer.status);
  }

  void describe(SinkStatus& status) const override {
    const std::lock_guard lock{mutex_};
    status.state = state_of(breaker_.state());
    status.resumes_at = breaker_.resumes_at();
  }

  void follow_circuit(std::optional<Timestamp> open_until) override {
    const std::lock_guard lock{mutex_};
    if (open_until) return breaker_.open_until(*open_until);
    if (breaker_.state() != CircuitBreaker::State::closed) breaker_.reset();
  }

  const HttpSinkOptions options_;
  const std::string target_;
  mutable std::mutex mutex_;
  CircuitBreaker breaker_;
  Courier courier_;  // last: its thread uses the others
};

}  // namespace

std::unique_ptr<Sink> open_http_sink(HttpSinkOptions options) { return std::make_unique<HttpSink>(std::move(options)); }

}  // namespace sluice::sink
