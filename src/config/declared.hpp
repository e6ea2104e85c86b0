// What the configuration file declares by name, beyond single keys: who may call, where events come in and where
// they go. Every part remembers where it stands, for errors found later.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>

namespace sluice::config {

/// A text that no log, error or listing shows: it has no output operator and no conversion.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const std::string& reveal() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

/// `[tokens.alice]`: a caller of the HTTP API.
struct TokenConfig {
  std::string name;
  std::string role;    ///< viewer, operator, admin
  std::string sha256;  ///< of the token, 64 hexadecimal digits, lower case; the token itself is not kept
  std::string where;   ///< `sluice.toml:3:1`
};

/// `[hooks.github]`: a source of webhooks, POST /hooks/github.
struct HookConfig {
  enum class Kind { standard, github, hmac };
  std::string source;  ///< also the `source` of its events, `[a-z][a-z0-9_]*`
  Kind kind = Kind::standard;
  std::vector<Secret> secrets;  ///< the raw key bytes; any of them verifies, for rotation
  /// `{event}` is replaced by what the provider calls the event, in lower case, everything but letters, digits, `_`
  /// and `.` as `_`.
  std::string event_type = "{source}.{event}";
  std::optional<std::string> target;             ///< none: a broadcast
  Duration tolerance = std::chrono::minutes{5};  ///< of the timestamp, where the kind has one
  // The generic kind.
  std::string signature_header;                 ///< lower case
  std::string signature_prefix;                 ///< `sha256=`
  bool signature_base64 = false;                ///< else hexadecimal
  std::optional<std::string> id_header;         ///< none: the digest of the body is the delivery's id
  std::optional<std::string> event_header;      ///< none: `event_name` of the body is not looked at; "received"
  std::optional<std::string> timestamp_header;  ///< signed as `timestamp.body` when given
  std::string where;
};

/// The hook's event type with this word for the event: `github.push`.
std::string event_type_of(const HookConfig& hook, std::string_view event);

/// Whether every pattern names events of these hooks only, so that the inbox retry policy is the natural one.
bool only_from_hooks(std::span<const std::string> event_types, std::span<const HookConfig> hooks);

/// `[sinks.NAME]`
struct SinkConfig {
  enum class Kind { http, nats, redis, exec, log };
  enum class Format { envelope, cloudevents_binary, cloudevents_structured };
  std::string name;
  Kind kind = Kind::log;
  // http
  std::string url;
  std::vector<Secret> secrets;            ///< the raw key bytes, the newest first: all of them sign
  std::map<std::string, Secret> headers;  ///< sent with every delivery
  Format format = Format::envelope;
  Duration timeout = std::chrono::seconds{15};
  Duration connect_timeout = std::chrono::seconds{5};
  std::vector<std::string> allow;  ///< addresses or networks beyond the public ones: `127.0.0.1`, `10.0.0.0/8`
  std::vector<int> terminal;       ///< statuses that fail the event at once, beside 410 and 413
  std::vector<int> transient;      ///< statuses that are retried although they would fail it
  int breaker_failures = 10;       ///< in a row, before the circuit opens
  Duration breaker_rest = std::chrono::seconds{30};
  // nats, redis
  std::vector<Secret> servers;  ///< URLs, which may hold a password; of Redis one
  std::string address;          ///< the subject or the stream, an AddressTemplate
  std::string user;
  Secret password;
  Secret token;
  std::string credentials_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  Duration duplicate_window = std::chrono::hours{2};  ///< redis: how long an id is remembered
  int max_messages = 0;                               ///< redis: 0 is no limit
  // exec
  std::vector<std::string> command;  ///< an absolute path and its arguments; no shell
  // all
  int concurrency = 0;  ///< deliveries at the same time; 0: the kind's own standard
  double rate = 0;      ///< deliveries per second; 0: no limit
  std::string where;
};

/// `[subscriptions."billing.invoice_mailer"]`
struct SubscriptionConfig {
  std::string handler_name;
  std::vector<std::string> event_types{"*"};
  std::optional<std::string> target;  ///< the context it serves; none: every target
  std::string sink;                   ///< a name of `sinks`; `log` is always there
  RetryPolicy retry = RetryPolicy::standard();
  bool retry_given = false;  ///< else: the inbox policy where all its events come from hooks
  int concurrency = 0;
  double rate = 0;
  Duration timeout{};
  std::string where;
};

/// The four kinds, each in the order of the file.
struct Declarations {
  std::vector<TokenConfig> tokens;
  std::vector<HookConfig> hooks;
  std::vector<SinkConfig> sinks;
  std::vector<SubscriptionConfig> subscriptions;
  /// A variable that is named for a secret and not set. The daemon cannot start without it; a command that only looks
  /// can do without.
  std::optional<Error> missing;
};

}  // namespace sluice::config
