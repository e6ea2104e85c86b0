#include "sink/open_sinks.hpp"

#include <utility>

#include "broker/open_broker.hpp"
#include "core/address_template.hpp"
#include "core/redact.hpp"
#include "core/try.hpp"
#include "sink/broker/broker_sink.hpp"
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

std::unique_ptr<Sink> open_http(const SinkConfig& sink, const Clock& clock, Tracer* tracer) {
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
  options.tracer = tracer;
  return open_http_sink(std::move(options));
}

std::unique_ptr<Sink> open_exec(const SinkConfig& sink, const Clock& clock, Tracer* tracer) {
  ExecSinkOptions options;
  options.name = sink.name;
  options.command = sink.command;
  options.timeout = sink.timeout;
  if (sink.concurrency > 0) options.concurrency = sink.concurrency;
  options.rate = sink.rate;
  options.clock = clock;
  options.tracer = tracer;
  return open_exec_sink(std::move(options));
}

MessageFormat message_format_of(SinkConfig::Format format) {
  switch (format) {
    case SinkConfig::Format::envelope:
      return MessageFormat::envelope;
    case SinkConfig::Format::cloudevents_binary:
      return MessageFormat::cloudevents_binary;
    case SinkConfig::Format::cloudevents_structured:
      return MessageFormat::cloudevents_structured;
  }
  return MessageFormat::cloudevents_binary;
}

broker::BrokerOptions broker_options(const SinkConfig& sink) {
  broker::BrokerOptions options;
  for (const config::Secret& url : sink.servers) options.urls.push_back(url.reveal());
  options.user = sink.user;
  options.password = sink.password.reveal();
  options.token = sink.token.reveal();
  options.credentials_file = sink.credentials_file;
  options.tls_ca = sink.tls_ca;
  options.tls_cert = sink.tls_cert;
  options.tls_key = sink.tls_key;
  options.tls_server_name = sink.tls_server_name;
  options.connect_timeout = sink.connect_timeout;
  options.client_name = "sluice-" + sink.name;
  options.duplicate_window = sink.duplicate_window;
  options.max_messages = sink.max_messages;
  return options;
}

Result<std::shared_ptr<Sink>> open_on_broker(const SinkConfig& sink, const Clock& clock, Tracer* tracer) {
  const auto here = [&](Error error) {
    error.message = sink.where + ": sinks." + sink.name + '.' + error.message;
    error.field = "sinks." + sink.name + '.' + error.field;
    return error;
  };
  auto opened = broker::open_broker(broker_options(sink));
  if (!opened) return here(opened.error());
  const bool nats = sink.kind == SinkConfig::Kind::nats;
  auto address = AddressTemplate::parse(sink.address, nats ? "subject" : "stream");
  if (!address) return here(address.error());
  BrokerSinkOptions options;
  options.name = sink.name;
  options.kind = nats ? "nats" : "redis";
  options.target = redact_address(sink.servers.front().reveal());
  options.broker = *std::move(opened);
  options.address = *std::move(address);
  options.format = message_format_of(sink.format);
  options.timeout = sink.timeout;
  options.breaker.failures = sink.breaker_failures;
  options.breaker.rest = sink.breaker_rest;
  options.rate = sink.rate;
  options.clock = clock;
  options.tracer = tracer;
  return std::shared_ptr<Sink>{open_broker_sink(std::move(options))};
}

Result<std::shared_ptr<Sink>> open(const SinkConfig& sink, const telemetry::Logger& logger, const Clock& clock,
                                   Tracer* tracer) {
  switch (sink.kind) {
    case SinkConfig::Kind::http:
      return std::shared_ptr<Sink>{open_http(sink, clock, tracer)};
    case SinkConfig::Kind::nats:
    case SinkConfig::Kind::redis:
      return open_on_broker(sink, clock, tracer);
    case SinkConfig::Kind::exec:
      return std::shared_ptr<Sink>{open_exec(sink, clock, tracer)};
    case SinkConfig::Kind::log:
      break;
  }
  return std::shared_ptr<Sink>{
      std::make_shared<LogSink>(logger, LogSinkOptions{.name = sink.name, .rate = sink.rate, .clock = clock})};
}

}  // namespace

Result<Sinks> open_sinks(const config::Config& config, const telemetry::Logger& logger,
                         const std::function<Timestamp()>& clock, Tracer* tracer) {
  const config::Declarations& declared = config.declared;
  if (declared.missing) return *declared.missing;
  Sinks sinks;
  for (const SinkConfig& sink : declared.sinks) {
    SLUICE_TRY(auto opened, open(sink, logger, clock, tracer));
    sinks.emplace(sink.name, std::move(opened));
  }
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
