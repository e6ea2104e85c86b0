#include <algorithm>
#include <array>
#include <utility>

#include "config/addresses.hpp"
#include "config/declare.hpp"
#include "core/ip_address.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 5> kSinkKinds{"http", "nats", "redis", "exec", "log"};
constexpr std::array<std::string_view, 3> kBodyFormats{"envelope", "cloudevents_binary", "cloudevents_structured"};
constexpr Bounds<int> kStatuses{300, 599};
constexpr Bounds<int> kSinkConcurrency{1, 1'000};
constexpr Bounds<double> kSinkRates{0.001, 1'000'000};

// What the sink itself says in its requests.
bool is_taken(std::string_view lower_name) {
  constexpr std::array<std::string_view, 6> kTaken{"content-type", "content-length", "transfer-encoding",
                                                   "connection",   "expect",         "host"};
  return lower_name.starts_with("webhook-") || lower_name.starts_with("ce-") ||
         std::find(kTaken.begin(), kTaken.end(), lower_name) != kTaken.end();
}

bool is_sink_name(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

void read_url(TableReader& reader, SinkConfig& sink) {
  sink.url = reader.text("url").value_or("");
  if (!reader.has("url")) {
    reader.refuse("url", "is missing; write url = \"https://receiver.example.com/path\"");
  } else if (!reader.failed() && !is_http_url(sink.url)) {
    reader.refuse("url", "must be an address that begins with https:// or http://");
  }
}

void read_headers(TableReader& reader, SecretReader& secrets, SinkConfig& sink) {
  sink.headers = secrets.named("headers", "header_envs");
  for (const auto& [name, value] : sink.headers) {
    const std::string_view key = reader.has("headers") ? "headers" : "header_envs";
    if (!is_header_name(name)) reader.refuse(key, "has a name that is no header: " + name);
    if (!is_header_value(value.reveal())) reader.refuse(key, "has a value that no header can have: that of " + name);
    if (is_taken(lower_case(name))) reader.refuse(key, "must not set " + name + ": the sink does");
  }
}

void read_allowed(TableReader& reader, SinkConfig& sink) {
  sink.allow = reader.texts("allow");
  for (const std::string& network : sink.allow) {
    if (Network::parse(network)) continue;
    reader.refuse("allow", "must hold addresses and networks such as \"127.0.0.1\" and \"10.0.0.0/8\"; `" + network +
                               "` is neither");
  }
}

void read_statuses(TableReader& reader, SinkConfig& sink) {
  sink.terminal = reader.integers("terminal", kStatuses);
  sink.transient = reader.integers("transient", kStatuses);
  for (const int status : sink.transient) {
    if (std::find(sink.terminal.begin(), sink.terminal.end(), status) == sink.terminal.end()) continue;
    reader.refuse("transient", "and terminal both name " + std::to_string(status) + "; take it out of one of them");
  }
}

void read_http(TableReader& reader, SecretReader& secrets, SinkConfig& sink) {
  read_url(reader, sink);
  sink.secrets = secrets.signing_keys();
  read_headers(reader, secrets, sink);
  sink.format = static_cast<SinkConfig::Format>(reader.choice("format", kBodyFormats).value_or(0));
  sink.connect_timeout = reader.duration("connect_timeout").value_or(sink.connect_timeout);
  read_allowed(reader, sink);
  read_statuses(reader, sink);
  read_breaker(reader, sink);
}

void read_exec(TableReader& reader, const DeclareContext& context, SinkConfig& sink) {
  sink.command = reader.texts("command");
  if (!reader.has("command")) {
    reader.refuse("command", "is missing; write command = [\"/usr/local/bin/program\", \"argument\"]");
  } else if (!sink.command.empty() && !sink.command.front().starts_with('/')) {
    reader.refuse("command", "must begin with the absolute path of a program; no shell looks for it");
  }
  if (!context.exec_enabled) {
    reader.refuse("kind", "is exec, and sinks may not run programs here",
                  "set exec.enabled = true if whoever writes this file may run programs on this machine");
  }
}

}  // namespace

Result<Declared<SinkConfig>> declare_sink(const FileTable& table, const DeclareContext& context) {
  TableReader reader{table};
  SecretReader secrets{reader, context.environment};
  SinkConfig sink;
  sink.name = table.name;
  sink.where = table.where;
  if (!is_sink_name(table.name)) {
    return invalid(table.path(), table.where + ": " + table.path() +
                                     " is no name of a sink; write lower-case letters, digits, '_' and '-'");
  }
  const auto kind = reader.choice("kind", kSinkKinds);
  if (!reader.has("kind"))
    reader.refuse("kind", "is missing; write kind = \"http\", \"nats\", \"redis\", \"exec\" or \"log\"");
  // Which keys are known depends on it.
  if (reader.failed()) return reader.first_error();
  sink.kind = static_cast<SinkConfig::Kind>(*kind);
  const bool is_broker = sink.kind == SinkConfig::Kind::nats || sink.kind == SinkConfig::Kind::redis;
  if (sink.kind != SinkConfig::Kind::log) sink.timeout = reader.duration("timeout").value_or(sink.timeout);
  if (sink.kind == SinkConfig::Kind::http || sink.kind == SinkConfig::Kind::exec) {
    sink.concurrency = reader.integer("concurrency", kSinkConcurrency).value_or(0);
  }
  sink.rate = reader.number("rate", kSinkRates).value_or(0);
  if (sink.kind == SinkConfig::Kind::http) read_http(reader, secrets, sink);
  if (is_broker) read_broker(reader, secrets, sink);
  if (sink.kind == SinkConfig::Kind::exec) read_exec(reader, context, sink);
  SLUICE_CHECK(reader.finish());
  return Declared<SinkConfig>{std::move(sink), secrets.missing()};
}

}  // namespace sluice::config
