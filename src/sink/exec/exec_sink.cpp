#include "sink/exec/exec_sink.hpp"

#include <sysexits.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <utility>

#include "core/generation.hpp"
#include "sink/exec/process.hpp"
#include "sink/switched_sink.hpp"

namespace sluice::sink {
namespace {

std::string with_words(const std::string& message, const ProgramEnd& end) {
  const std::string said = excerpt(end.error);
  return said.empty() ? message : message + ": " + said;
}

// `program` is how messages name it.
Verdict verdict_of(const ProgramEnd& end, std::string_view program) {
  const std::string name{program};
  const std::string code = std::to_string(end.code);
  switch (end.kind) {
    case ProgramEnd::Kind::timed_out:
      return Verdict::failed("timeout", with_words(name + " took too long and was killed", end));
    case ProgramEnd::Kind::stopped:
      return Verdict::failed("stopped", with_words(name + " was stopped before it ended", end));
    case ProgramEnd::Kind::killed:
      return Verdict::failed("signal_" + code, with_words(name + " was killed by signal " + code, end));
    case ProgramEnd::Kind::exited:
      break;
  }
  if (end.code == EX_OK) return Verdict::handled();
  Verdict verdict = Verdict::failed("exit_" + code, with_words(name + " exited with status " + code, end));
  verdict.terminal = end.code == EX_DATAERR;
  return verdict;
}

class ExecSink final : public SwitchedSink {
 public:
  explicit ExecSink(ExecSinkOptions options)
      : SwitchedSink({options.name, "exec", options.command.front(), options.rate}, options.clock),
        options_(std::move(options)),
        slots_(options_.concurrency) {}

 private:
  std::vector<Verdict> carry(std::span<const EventEnvelope> events, const Delivery& delivery) override {
    if (events.empty()) return {};
    std::vector<Verdict> verdicts(events.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < events.size(); i = next++) verdicts[i] = run(events[i], delivery, i);
    };
    const std::size_t helpers = std::min(events.size(), static_cast<std::size_t>(options_.concurrency)) - 1;
    std::vector<std::jthread> threads;
    threads.reserve(helpers);
    for (std::size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
    work();
    threads.clear();
    return verdicts;
  }

  Verdict run(const EventEnvelope& event, const Delivery& delivery, std::size_t i) {
    slots_.acquire();
    if (delivery.stop.stop_requested()) {
      slots_.release();
      return Verdict::defer_for(Duration::zero());
    }
    const std::string input = event.to_json();
    const auto span = start_span(delivery.traceparent(i));
    const auto began = std::chrono::steady_clock::now();
    const std::string_view trace = span ? span->traceparent() : delivery.traceparent(i);
    const auto end =
        run_program({options_.command, environment(event, delivery, i, trace), input, options_.timeout}, delivery.stop);
    slots_.release();
    record_latency(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began));
    Verdict verdict = verdict_on(end, delivery.stop);
    if (span && end && end->kind == ProgramEnd::Kind::exited) span->set("process.exit.code", end->code);
    if (span && verdict.kind == Verdict::Kind::failed) span->fail(verdict.error_class, verdict.message);
    return verdict;
  }

  [[nodiscard]] Verdict verdict_on(const Result<ProgramEnd>& end, const std::stop_token& stop) const {
    if (!end) return Verdict::failed("not_started", end.error().message);
    if (end->kind == ProgramEnd::Kind::stopped && stop.stop_requested()) {
      return Verdict::stopped(options_.command.front() + " was stopped before it ended");
    }
    return verdict_of(*end, options_.command.front());
  }

  // By the conventions for command line programs. Without the arguments: they may hold secrets.
  [[nodiscard]] std::unique_ptr<Span> start_span(std::string_view parent) const {
    if (options_.tracer == nullptr || parent.empty()) return nullptr;
    const std::string_view path = options_.command.front();
    const std::string_view program = path.substr(path.rfind('/') + 1);
    auto span = options_.tracer->start({.kind = SpanKind::client, .operation = program, .parent = parent});
    if (!span || !span->recording()) return span;
    span->set("process.executable.name", program);
    span->set("process.executable.path", path);
    span->set("sluice.sink", options_.name);
    return span;
  }

  // `trace`: the span that the program is part of; empty: the event's own trace goes on.
  static std::vector<std::string> environment(const EventEnvelope& event, const Delivery& delivery, std::size_t i,
                                              std::string_view trace) {
    std::vector<std::string> all{"PATH=/usr/local/bin:/usr/bin:/bin",
                                 "LANG=C.UTF-8",
                                 "SLUICE_EVENT_ID=" + event.event_id().to_string(),
                                 "SLUICE_EVENT_TYPE=" + event.event_type(),
                                 "SLUICE_HANDLER_NAME=" + std::string{delivery.handler_name},
                                 "SLUICE_ATTEMPTS=" + std::to_string(delivery.attempts[i])};
    const auto& own = event.trace_context();
    if (trace.empty() && own && check_trace_context(*own)) trace = *own;
    if (!trace.empty()) all.push_back("TRACEPARENT=" + std::string{trace});
    return all;
  }

  const ExecSinkOptions options_;
  std::counting_semaphore<> slots_;
};

}  // namespace

std::unique_ptr<Sink> open_exec_sink(ExecSinkOptions options) { return std::make_unique<ExecSink>(std::move(options)); }

}  // namespace sluice::sink
