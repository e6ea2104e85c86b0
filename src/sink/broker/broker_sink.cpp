#include "sink/broker/broker_sink.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/cloudevents.hpp"
#include "core/generation.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::sink {
namespace {

std::string error_class_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid:
      return error.field == "body" ? "message_too_large" : "bad_message";
    case ErrorCode::not_found:
      return "no_stream";
    case ErrorCode::forbidden:
      return "credentials_refused";
    case ErrorCode::exhausted:
      return "broker_full";
    case ErrorCode::timeout:
      return "timeout";
    default:
      return "broker_unavailable";
  }
}

std::string sentence_of(const Error& error) {
  return error.hint.empty() ? error.message : error.message + "; " + error.hint;
}

constexpr std::string_view kTraceparent = "traceparent";

class BrokerSink final : public SwitchedSink {
 public:
  explicit BrokerSink(BrokerSinkOptions options)
      : SwitchedSink({options.name, options.kind, options.target, options.rate}, options.clock),
        options_(std::move(options)),
        breaker_(options_.breaker) {}

  ProbeReport probe(const EventEnvelope& event) override {
    const broker::OutgoingMessage message = message_of(event, 0, options_);
    const auto began = std::chrono::steady_clock::now();
    const auto answers = options_.broker->publish({&message, 1}, options_.timeout, {});
    ProbeReport report;
    report.took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
    report.ok = answers.front().has_value();
    report.status = report.ok ? "taken" : error_class_of(answers.front().error());
    report.detail = excerpt(report.ok ? "on " + message.address : sentence_of(answers.front().error()));
    return report;
  }

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) override {
    if (events.empty()) return {};
    bool trial = false;
    if (const auto wait = closed_for(trial)) return std::vector<Verdict>(events.size(), Verdict::defer_for(*wait));
    // One event finds out whether the broker is back; the others do not pay for it with an attempt.
    const auto going = trial ? events.first(1) : events;
    std::vector<Verdict> verdicts = publish(going, delivery);
    verdicts.resize(events.size(), Verdict::defer_for(options_.breaker.glance));
    return verdicts;
  }

  std::vector<Verdict> publish(std::span<const EventEnvelope> events, const Delivery& delivery) {
    std::vector<broker::OutgoingMessage> messages;
    messages.reserve(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      messages.push_back(message_of(events[i], delivery.generation, options_));
      // The broker drops what it has had: that is right for a repeat of an attempt, not for what is sent again.
      if (const auto replay = delivery.replay(i); replay > 0) messages.back().id += ':' + std::to_string(replay);
    }
    const auto spans = begin_spans(messages, delivery);
    const auto began = std::chrono::steady_clock::now();
    const auto answers = options_.broker->publish(messages, options_.timeout, delivery.stop);
    const auto took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
    std::vector<Verdict> verdicts;
    verdicts.reserve(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& answer = answers[i];
      const bool stopped = !answer && answer.error().retry != Retry::never && delivery.stop.stop_requested();
      verdicts.push_back(stopped ? Verdict::stopped("stopped before the broker answered") : verdict_of(answer));
      if (spans[i] && !answer) spans[i]->fail(error_class_of(answer.error()), sentence_of(answer.error()));
      record_latency(took);
      note(answer, stopped);
    }
    return verdicts;
  }

  // One per message, none where nothing is recorded. They end together, when the broker has answered to all.
  std::vector<std::unique_ptr<Span>> begin_spans(std::vector<broker::OutgoingMessage>& messages,
                                                 const Delivery& delivery) const {
    std::vector<std::unique_ptr<Span>> spans(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string_view run = delivery.traceparent(i);
      if (run.empty()) continue;
      spans[i] = start_span(messages[i], run);
      pass_on(messages[i], spans[i] ? spans[i]->traceparent() : run);
    }
    return spans;
  }

  std::unique_ptr<Span> start_span(const broker::OutgoingMessage& message, std::string_view parent) const {
    if (options_.tracer == nullptr) return nullptr;
    telemetry::MessagingStart start{SpanKind::producer, "send", "send", message.address};
    start.parent = parent;
    start.system = options_.kind;
    auto span = telemetry::start_messaging(*options_.tracer, start);
    if (!span || !span->recording()) return span;
    span->set("messaging.message.id", message.id);
    span->set("sluice.sink", options_.name);
    return span;
  }

  // Whoever consumes the message goes on from there.
  static void pass_on(broker::OutgoingMessage& message, std::string_view traceparent) {
    std::erase_if(message.headers, [](const auto& header) { return header.first == kTraceparent; });
    message.headers.emplace_back(kTraceparent, traceparent);
  }

  // None: go on. `trial`: the circuit is half open.
  std::optional<Duration> closed_for(bool& trial) {
    const std::lock_guard lock{mutex_};
    const Timestamp asked = now();
    const auto until = breaker_.ask(asked);
    trial = breaker_.state() == CircuitBreaker::State::half_open;
    if (until) return std::chrono::duration_cast<Duration>(*until - asked);
    return std::nullopt;
  }

  void note(const Result<broker::Taken>& answer, bool stopped) {
    const std::lock_guard lock{mutex_};
    const CircuitBreaker::State before = breaker_.state();
    if (stopped) {
      breaker_.abandoned();
    } else if (answer || answer.error().retry == Retry::never) {
      breaker_.succeeded();
    } else {
      breaker_.failed(now());
    }
    if (before == breaker_.state()) return;
    if (breaker_.state() == CircuitBreaker::State::open) {
      tell({SinkNews::What::circuit_opened, options_.breaker.rest, answer.error().message});
    } else if (breaker_.state() == CircuitBreaker::State::closed) {
      tell({SinkNews::What::circuit_closed, {}, options_.target + " takes messages again"});
    }
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

  const BrokerSinkOptions options_;
  mutable std::mutex mutex_;
  CircuitBreaker breaker_;
};

}  // namespace

broker::OutgoingMessage message_of(const EventEnvelope& event, std::int64_t generation,
                                   const BrokerSinkOptions& options) {
  broker::OutgoingMessage message;
  message.address = options.address.fill(event, generation);
  message.id = event.event_id().to_string() + ':' + options.name;
  switch (options.format) {
    case MessageFormat::cloudevents_binary:
      message.headers = cloudevents::encode_binary_headers(event);
      message.headers.emplace_back("ce-datacontenttype", "application/json");
      message.body = event.payload();
      break;
    case MessageFormat::cloudevents_structured:
      message.headers.emplace_back("content-type", cloudevents::kStructured);
      message.body = cloudevents::encode_structured(event);
      break;
    case MessageFormat::envelope:
      message.headers.emplace_back("content-type", "application/json");
      message.body = event.to_json();
      break;
  }
  if (const auto& context = event.trace_context(); context && check_trace_context(*context)) {
    message.headers.emplace_back(kTraceparent, *context);
  }
  return message;
}

Verdict verdict_of(const Result<broker::Taken>& answer) {
  if (answer) return Verdict::handled();
  const Error& error = answer.error();
  Verdict verdict = Verdict::failed(error_class_of(error), excerpt(sentence_of(error)));
  verdict.terminal = error.retry == Retry::never;
  return verdict;
}

std::unique_ptr<Sink> open_broker_sink(BrokerSinkOptions options) {
  return std::make_unique<BrokerSink>(std::move(options));
}

}  // namespace sluice::sink
