#include "config/declare_broker.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/address_template.hpp"

namespace sluice::config {
namespace {

// The first is what is taken when nothing is said.
constexpr std::array<std::string_view, 3> kMessageFormats{"cloudevents_binary", "cloudevents_structured", "envelope"};
constexpr std::array kFormats{SinkConfig::Format::cloudevents_binary, SinkConfig::Format::cloudevents_structured,
                              SinkConfig::Format::envelope};
constexpr Bounds<int> kBreakerFailures{1, 10'000};
constexpr Bounds<int> kMaxMessages{1, std::numeric_limits<int>::max()};

void read_address(TableReader& reader, std::string_view key, const std::string& example, SinkConfig& sink) {
  sink.address = reader.text(key).value_or("");
  if (!reader.has(key)) return reader.refuse(key, "is missing; write " + std::string{key} + " = \"" + example + '"');
  if (reader.failed()) return;
  const auto parsed = AddressTemplate::parse(sink.address, key);
  if (!parsed) reader.refuse(key, parsed.error().message.substr(key.size() + 1));
}

void read_nats(TableReader& reader, SecretReader& secrets, SinkConfig& sink) {
  for (std::string& url : reader.texts("urls")) {
    if (!url.starts_with("nats://") && !url.starts_with("tls://")) {
      reader.refuse("urls", "must hold addresses that begin with nats:// or tls://");
    }
    sink.servers.emplace_back(std::move(url));
  }
  if (!reader.has("urls")) reader.refuse("urls", "is missing; write urls = [\"nats://127.0.0.1:4222\"]");
  if (reader.has("urls") && !reader.failed() && sink.servers.empty()) reader.refuse("urls", "must name a server");
  read_address(reader, "subject", "events.{type}", sink);
  sink.token = secrets.one("token", "token_env").value_or(Secret{});
  sink.credentials_file = reader.text("credentials_file").value_or("");
  sink.tls_ca = reader.text("tls_ca").value_or("");
  sink.tls_cert = reader.text("tls_cert").value_or("");
  sink.tls_key = reader.text("tls_key").value_or("");
  sink.tls_server_name = reader.text("tls_server_name").value_or("");
  if (sink.tls_cert.empty() != sink.tls_key.empty()) {
    reader.refuse(sink.tls_cert.empty() ? "tls_key" : "tls_cert", "needs the other half: give tls_cert and tls_key");
  }
  const std::array ways{!sink.user.empty(), !sink.token.empty(), !sink.credentials_file.empty()};
  if (std::count(ways.begin(), ways.end(), true) > 1) {
    reader.refuse(sink.credentials_file.empty() ? "token" : "credentials_file",
                  "is one way to log in too many: give user and password, a token, or a credentials file");
  }
}

void read_redis(TableReader& reader, SecretReader& secrets, SinkConfig& sink) {
  if (auto url = secrets.one("url", "url_env")) {
    if (url->reveal().starts_with("rediss://")) {
      reader.refuse("url",
                    "asks for TLS, which this build has not for Redis: put a TLS proxy such as stunnel on this "
                    "machine, and write redis://");
    } else if (!url->empty() && !url->reveal().starts_with("redis://")) {
      reader.refuse("url", "must begin with redis://");
    }
    sink.servers.push_back(std::move(*url));
  } else if (!reader.has("url_env")) {
    reader.refuse("url", "is missing; write url = \"redis://127.0.0.1:6379\"");
  }
  read_address(reader, "stream", "events:{type}", sink);
  sink.duplicate_window = reader.duration("duplicate_window").value_or(sink.duplicate_window);
  sink.max_messages = reader.integer("max_messages", kMaxMessages).value_or(0);
}

}  // namespace

void read_breaker(TableReader& reader, SinkConfig& sink) {
  sink.breaker_failures = reader.integer("breaker_failures", kBreakerFailures).value_or(sink.breaker_failures);
  sink.breaker_rest = reader.duration("breaker_rest").value_or(sink.breaker_rest);
}

void read_broker(TableReader& reader, SecretReader& secrets, SinkConfig& sink) {
  sink.user = reader.text("user").value_or("");
  sink.password = secrets.one("password", "password_env").value_or(Secret{});
  sink.format = kFormats[reader.choice("format", kMessageFormats).value_or(0)];
  sink.connect_timeout = reader.duration("connect_timeout").value_or(sink.connect_timeout);
  read_breaker(reader, sink);
  sink.kind == SinkConfig::Kind::nats ? read_nats(reader, secrets, sink) : read_redis(reader, secrets, sink);
}

}  // namespace sluice::config
