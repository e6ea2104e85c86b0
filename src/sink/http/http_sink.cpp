#include "sink/http/http_sink.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/redact.hpp"
#include "http_client/http_client.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {
namespace {

// Receivers refuse signatures that are older than five minutes.
constexpr Duration kOldSignature = std::chrono::minutes{1};

http_client::HttpClientOptions client_options(const HttpSinkOptions& options) {
  http_client::HttpClientOptions client;
  client.url = options.url;
  client.headers = fixed_headers(options.request.format, SLUICE_VERSION, options.headers);
  client.connect_timeout = options.connect_timeout;
  client.timeout = options.timeout;
  client.concurrency = options.concurrency;
  client.guard = http_client::AddressGuard{options.allowed};
  return client;
}

class HttpSink final : public SwitchedSink {
 public:
  explicit HttpSink(HttpSinkOptions options)
      : SwitchedSink({options.name, "http", redact_address(options.url), options.rate}, options.clock),
        options_(std::move(options)),
        target_(redact_address(options_.url)),
        breaker_(options_.breaker),
        client_(client_options(options_)) {}

  ProbeReport probe(const EventEnvelope& event) override {
    Attempt trial{*this, event, now(), true};
    http_client::Exchange* const only = &trial;
    client_.run({&only, 1}, {});
    const Verdict verdict = verdict_of(trial);
    const bool ok = verdict.kind == Verdict::Kind::handled;
    return {ok, ok ? std::to_string(trial.answer.status) : verdict.error_class, described(trial.answer), trial.took};
  }

 private:
  // One event on its way.
  class Attempt final : public http_client::Exchange {
   public:
    Attempt(HttpSink& sink, const EventEnvelope& event, Timestamp signed_at, bool trial = false)
        : sink_(sink), event_(event), request_(event, sink.options_.request, signed_at), trial_(trial) {}
    /// The traceparent of the span that it is part of; empty: none.
    void belong_to(std::string_view traceparent) { traceparent_ = traceparent; }

    bool may_begin() override { return trial_ || sink_.may_begin(*this); }
    void ended() override {
      if (!trial_) sink_.ended(*this);
      end_span();
    }
    [[nodiscard]] const std::vector<std::string>& headers() const override { return request_.headers(); }
    [[nodiscard]] std::string_view body() const override { return request_.body(); }

    [[nodiscard]] Timestamp signed_at() const { return request_.signed_at(); }
    void sign_again(Timestamp now) { request_ = {event_, sink_.options_.request, now}; }
    // Right before it is sent.
    void begin_span() {
      if (traceparent_.empty()) return;
      span_ = sink_.start_span(traceparent_);
      request_.pass_on(span_ ? span_->traceparent() : traceparent_);
    }

    std::optional<Duration> wait;  // why it did not begin: not before this has passed; none: it was stopped before

   private:
    void end_span() {
      if (span_ && answer.status > 0) span_->set("http.response.status_code", answer.status);
      const bool taken = answer.status >= 200 && answer.status < 300;
      if (span_ && !taken) {
        span_->fail(answer.status > 0 ? std::to_string(answer.status) : std::string{http_client::name(answer.reason)},
                    described(answer));
      }
      span_.reset();
    }

    HttpSink& sink_;
    const EventEnvelope& event_;
    DeliveryRequest request_;
    const bool trial_;  // goes whatever the state of the circuit is
    std::string_view traceparent_;
    std::unique_ptr<Span> span_;  // while it is under way; none: not sampled
  };

  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) override {
    const Timestamp signed_at = now();
    std::deque<Attempt> attempts;
    std::vector<http_client::Exchange*> exchanges;
    exchanges.reserve(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      Attempt& attempt = attempts.emplace_back(*this, events[i], signed_at);
      attempt.belong_to(delivery.traceparent(i));
      exchanges.push_back(&attempt);
    }
    client_.run(exchanges, delivery.stop);
    std::vector<Verdict> verdicts;
    verdicts.reserve(attempts.size());
    for (const Attempt& attempt : attempts) verdicts.push_back(verdict_of(attempt));
    return verdicts;
  }

  [[nodiscard]] Verdict verdict_of(const Attempt& attempt) const {
    if (!attempt.begun) return Verdict::defer_for(attempt.wait.value_or(Duration::zero()));
    return sink::verdict_of(attempt.answer, options_.statuses, target_, now());
  }

  // On the client's thread.
  bool may_begin(Attempt& attempt) {
    if (is_disabled()) {
      attempt.wait = kStoppedSinkWait;
      return false;
    }
    {
      const std::lock_guard lock{mutex_};
      const Timestamp asked = now();
      if (const auto until = breaker_.ask(asked)) attempt.wait = *until - asked;
    }
    if (attempt.wait) return false;
    if (now() - attempt.signed_at() > kOldSignature) attempt.sign_again(now());
    attempt.begin_span();
    return true;
  }

  std::unique_ptr<Span> start_span(std::string_view parent) const {
    if (options_.tracer == nullptr) return nullptr;
    auto span = options_.tracer->start({.kind = SpanKind::client, .operation = "POST", .parent = parent});
    if (!span || !span->recording()) return span;
    span->set("http.request.method", "POST");
    span->set("url.full", target_);
    span->set("sluice.sink", options_.name);
    return span;
  }

  // On the client's thread.
  void ended(const Attempt& attempt) {
    record_latency(attempt.took);
    if (is_gone(attempt.answer, options_.statuses)) disable(said(attempt.answer));
    const std::lock_guard lock{mutex_};
    const CircuitBreaker::State before = breaker_.state();
    if (is_trouble(attempt.answer)) {
      breaker_.failed(now());
    } else {
      attempt.answer.status == 0 ? breaker_.abandoned() : breaker_.succeeded();
    }
    if (before == breaker_.state()) return;
    if (breaker_.state() == CircuitBreaker::State::open) {
      tell({SinkNews::What::circuit_opened, options_.breaker.rest, said(attempt.answer)});
    } else {
      tell({SinkNews::What::circuit_closed, {}, said(attempt.answer)});
    }
  }

  // Without the answer's own words: this is kept, audited and shown where payloads are not.
  [[nodiscard]] std::string said(const Answer& answer) const {
    return answer.status == 0 ? "no answer from " + target_ + ": " + std::string{http_client::name(answer.reason)}
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
  http_client::HttpClient client_;  // last: its thread uses the others
};

}  // namespace

std::unique_ptr<Sink> open_http_sink(HttpSinkOptions options) { return std::make_unique<HttpSink>(std::move(options)); }

}  // namespace sluice::sink
