#include "sink/open_sinks.hpp"

#include <utility>

#include "core/try.hpp"
#include "sink/exec/exec_sink.hpp"
#include "sink/http/http_sink.hpp"
#include "sink/log/log_sink.hpp"

namespace sluice::sink {
namespace {

using config::SinkConfig;

BodyFormat format_of(SinkConfig::Format format) {
  switch (format) {
    case SinkConfig::Format::envelope:
      return BodyFormat::envelope;
    case SinkConfig::Format::cloudevents_binary:
      return BodyFormat::cloudevents_binary;
    case SinkConfig::Format::cloudevents_structured:
      return BodyFormat::cloudevents_structured;
  }
  return BodyFormat::envelope;
}

using Clock = std::function<Timestamp()>;

std::unique_ptr<Sink> open_http(const SinkConfig& sink, const Clock& clock) {
  HttpSinkOptions options;
  options.name = sink.name;
  options.url = sink.url;
  options.request.format = format_of(sink.format);
  for (const config::Secret& secret : sink.secrets) options.request.keys.push_back(secret.reveal());
  for (const auto& [name, value] : sink.headers) options.headers.emplace_back(name, value.reveal());
  options.connect_timeout = sink.connect_timeout;
  options.timeout = sink.timeout;
  for (const std::string& text : sink.allow) {
    // The configuration has checked them.
    if (const auto network = Network::parse(text)) options.allowed.push_back(*network);
  }
  options.statuses = {sink.terminal, sink.transient};
  options.breaker.failures = sink.breaker_failures;
  options.breaker.rest = sink.breaker_rest;
  if (sink.concurrency > 0) options.concurrency = sink.concurrency;
  options.rate = sink.rate;
  options.clock = clock;
  return open_http_sink(std::move(options));
}

std::unique_ptr<Sink> open_exec(const SinkConfig& sink, const Clock& clock) {
  ExecSinkOptions options;
  options.name = sink.name;
  options.command = sink.command;
  options.timeout = sink.timeout;
  if (sink.concurrency > 0) options.concurrency = sink.concurrency;
  options.rate = sink.rate;
  options.clock = clock;
  return open_exec_sink(std::move(options));
}

std::shared_ptr<Sink> open(const SinkConfig& sink, const telemetry::Logger& logger, const Clock& clock) {
  switch (sink.kind) {
    case SinkConfig::Kind::http:
      return open_http(sink, clock);
    case SinkConfig::Kind::exec:
      return open_exec(sink, clock);
    case SinkConfig::Kind::log:
      return std::make_shared<LogSink>(logger, LogSinkOptions{.name = sink.name, .rate = sink.rate, .clock = clock});
  }
  return nullptr;
}

}  // namespace

Result<Sinks> open_sinks(const config::Config& config, const telemetry::Logger& logger,
                         const std::function<Timestamp()>& clock) {
  const config::Declarations& declared = config.declared;
  if (declared.missing) return *declared.missing;
  Sinks sinks;
  for (const SinkConfig& sink : declared.sinks) sinks.emplace(sink.name, open(sink, logger, clock));
  if (!sinks.contains("log")) sinks.emplace("log", std::make_shared<LogSink>(logger, LogSinkOptions{.clock = clock}));
  return sinks;
}

Result<ProbeReport> probe_declared(const config::Config& config, const telemetry::Logger& logger,
                                   const std::string& name, const EventEnvelope& event) {
  SLUICE_TRY(auto sinks, open_sinks(config, logger));
  const auto found = sinks.find(name);
  if (found != sinks.end()) return found->second->probe(event);
  return Error{ErrorCode::not_found, Retry::never, "the configuration declares no sink " + name, "NAME",
               "`sluice config validate` checks the file; --config names it"};
}

}  // namespace sluice::sink
