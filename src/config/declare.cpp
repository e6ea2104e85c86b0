#include "config/declare.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/address_template.hpp"
#include "core/characters.hpp"
#include "core/generation.hpp"
#include "core/subscription.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "crypto/digest.hpp"

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

namespace {

constexpr std::array<std::string_view, 3> kRoles{"viewer", "operator", "admin"};
constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestName = 64;

// The audit shows it.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view{"._@-"}.find(c) != std::string_view::npos;
  });
}

bool is_token(std::string_view text) {
  return text.size() >= kShortestToken &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

std::string digest_of(TableReader& table, const Secret& token, std::string_view key) {
  if (!is_token(token.reveal())) {
    table.refuse(key, "must be at least 16 visible ASCII characters", "make one: openssl rand -hex 24");
  }
  return crypto::to_hex(crypto::sha256(token.reveal()));
}

std::string given_digest(TableReader& table, const std::string& text) {
  const auto bytes = crypto::from_hex(text);
  if (!bytes || bytes->size() != crypto::Sha256{}.size()) {
    table.refuse("token_sha256", "must be 64 hexadecimal digits", "make it: printf %s \"$TOKEN\" | sha256sum");
    return {};
  }
  return crypto::to_hex(*bytes);
}

}  // namespace

Result<Declared<TokenConfig>> declare_token(const FileTable& table, const DeclareContext& context) {
  TableReader reader{table};
  SecretReader secrets{reader, context.environment};
  TokenConfig token;
  token.name = table.name;
  token.where = table.where;
  if (!is_name(table.name)) {
    reader.refuse(invalid(table.path(), table.where + ": " + table.path() +
                                            " is no name for a caller; write letters, digits, '.', '_', '@' and '-'"));
  }
  const auto role = reader.choice("role", kRoles);
  if (role) token.role = kRoles[*role];
  if (!reader.has("role")) reader.refuse("role", "is missing; write role = \"viewer\", \"operator\" or \"admin\"");
  const auto digest = reader.text("token_sha256");
  const auto plain = secrets.one("token", "token_env");
  const bool named = reader.has("token") || reader.has("token_env");
  if (digest && named) reader.refuse("token_sha256", "and the token itself cannot both be there; keep the digest");
  if (digest) token.sha256 = given_digest(reader, *digest);
  if (plain) token.sha256 = digest_of(reader, *plain, reader.has("token") ? "token" : "token_env");
  if (!digest && !named && !reader.has("token_sha256")) {
    reader.refuse("token_sha256", "is missing; write token_sha256, token_env or token",
                  "make a token: openssl rand -hex 24");
  }
  SLUICE_CHECK(reader.finish());
  return Declared<TokenConfig>{std::move(token), secrets.missing()};
}

namespace {

constexpr std::array<std::string_view, 2> kPolicies{"standard", "inbox"};
constexpr std::array<std::string_view, 2> kJitters{"none", "full"};
constexpr Bounds<int> kAttempts{1, 1'000};
constexpr Bounds<int> kConcurrency{1, 1'000};
constexpr Bounds<double> kMultipliers{1, 1'000};
constexpr Bounds<double> kRates{0.001, 1'000'000};

Result<RetryPolicy> read_policy(TableReader table, RetryPolicy policy) {
  policy.max_attempts = table.integer("attempts", kAttempts).value_or(policy.max_attempts);
  policy.base = table.duration("base").value_or(policy.base);
  policy.multiplier = table.number("multiplier", kMultipliers).value_or(policy.multiplier);
  policy.cap = table.duration("cap").value_or(policy.cap);
  if (const auto jitter = table.choice("jitter", kJitters)) policy.jitter = *jitter == 0 ? Jitter::none : Jitter::full;
  if (policy.cap < policy.base) {
    table.refuse(table.has("cap") ? "cap" : "base",
                 "leaves cap (" + to_text(policy.cap) + ") below base (" + to_text(policy.base) + "); set both");
  }
  SLUICE_CHECK(table.finish());
  return policy;
}

void read_retry(TableReader& reader, const DeclareContext& context, SubscriptionConfig& subscription) {
  subscription.retry = context.standard_retry;
  const FileValue* given = reader.value("retry");
  if (given == nullptr) return;
  subscription.retry_given = true;
  if (given->kind == FileValue::Kind::table) {
    auto policy = read_policy({reader.name_of("retry"), given->where, given->members}, context.standard_retry);
    if (!policy) return reader.refuse(std::move(policy).error());
    subscription.retry = *std::move(policy);
    return;
  }
  if (const auto word = reader.choice("retry", kPolicies); word && *word == 1) subscription.retry = context.inbox_retry;
}

// `[subscriptions.billing.mailer]` is a table in a table.
Error bad_name(const FileTable& table) {
  const bool nested = !table.members.empty() && table.members.front().value.kind == FileValue::Kind::table;
  const std::string name = nested ? table.name + '.' + table.members.front().key : "scope.name";
  return invalid(table.path(), table.where + ": " + table.path() +
                                   " is not the name of a handler; write [subscriptions.\"" + name + "\"]");
}

void check_patterns(TableReader& reader, const SubscriptionConfig& subscription) {
  for (const std::string& pattern : subscription.event_types) {
    const Subscription one{subscription.handler_name, {pattern}, std::nullopt, std::nullopt};
    if (one.validate()) continue;
    reader.refuse("events", "must hold event types, prefixes that end in * or \"*\"; `" + pattern + "` is neither");
  }
}

}  // namespace

Result<Declared<SubscriptionConfig>> declare_subscription(const FileTable& table, const DeclareContext& context) {
  if (!check_handler_name(table.name)) return bad_name(table);
  TableReader reader{table};
  SubscriptionConfig subscription;
  subscription.handler_name = table.name;
  subscription.where = table.where;
  if (auto events = reader.texts("events"); !events.empty()) subscription.event_types = std::move(events);
  check_patterns(reader, subscription);
  subscription.target = reader.text("target");
  if (subscription.target && !check_context(*subscription.target, "target")) {
    reader.refuse("target", "must be a context: lower-case letters, digits and '_'");
  }
  subscription.sink = reader.text("sink").value_or("");
  if (!reader.has("sink")) reader.refuse("sink", "is missing; name a sink of this file, or \"log\"");
  read_retry(reader, context, subscription);
  subscription.concurrency = reader.integer("concurrency", kConcurrency).value_or(0);
  subscription.rate = reader.number("rate", kRates).value_or(0);
  subscription.timeout = reader.duration("timeout").value_or(Duration::zero());
  SLUICE_CHECK(reader.finish());
  return Declared<SubscriptionConfig>{std::move(subscription), std::nullopt};
}

namespace {

constexpr std::string_view kLog = "log";

template <class T>
Result<void> keep(Result<Declared<T>> declared, std::vector<T>& into, std::optional<Error>& missing) {
  if (!declared) return std::move(declared).error();
  if (!missing) missing = std::move(declared->missing);
  into.push_back(std::move(declared->value));
  return {};
}

Result<void> declare_one(const FileTable& table, const DeclareContext& context, Declarations& into) {
  if (table.section == "tokens") return keep(declare_token(table, context), into.tokens, into.missing);
  if (table.section == "hooks") return keep(declare_hook(table, context), into.hooks, into.missing);
  if (table.section == "sinks") return keep(declare_sink(table, context), into.sinks, into.missing);
  return keep(declare_subscription(table, context), into.subscriptions, into.missing);
}

Result<void> check_sink_name(const SubscriptionConfig& subscription, const std::vector<SinkConfig>& sinks) {
  std::vector<std::string_view> names{kLog};
  for (const SinkConfig& sink : sinks) names.emplace_back(sink.name);
  if (std::find(names.begin(), names.end(), subscription.sink) != names.end()) return {};
  const std::string field = "subscriptions.\"" + subscription.handler_name + "\".sink";
  Error error = invalid(
      field, subscription.where + ": " + field + " names `" + subscription.sink + "`, which is no sink of this file");
  if (const auto near = nearest(subscription.sink, names)) {
    error.message += "; did you mean `" + std::string{*near} + "`?";
  }
  error.hint = "declare it as [sinks." + subscription.sink + "], or name `log`";
  return error;
}

// One token, two names: the audit could not tell who it was.
Result<void> check_tokens_differ(const std::vector<TokenConfig>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto same =
        std::find_if(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const auto& other) { return !other.sha256.empty() && other.sha256 == tokens[i].sha256; });
    if (same == tokens.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    const std::string field = "tokens." + tokens[i].name;
    return invalid(field, tokens[i].where + ": " + field + " has the token of tokens." + same->name +
                              "; give each caller a token of its own");
  }
  return {};
}

}  // namespace

Result<Declarations> declare(std::span<const FileTable> tables, const DeclareContext& context) {
  Declarations declarations;
  for (const FileTable& table : tables) {
    SLUICE_CHECK(declare_one(table, context, declarations));
  }
  for (const SubscriptionConfig& subscription : declarations.subscriptions) {
    SLUICE_CHECK(check_sink_name(subscription, declarations.sinks));
  }
  for (SubscriptionConfig& subscription : declarations.subscriptions) {
    const bool from_hooks = only_from_hooks(subscription.event_types, declarations.hooks);
    if (from_hooks && !subscription.retry_given) subscription.retry = context.inbox_retry;
  }
  SLUICE_CHECK(check_tokens_differ(declarations.tokens));
  return declarations;
}

}  // namespace sluice::config
