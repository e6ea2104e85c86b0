#include "config/key_table.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace sluice::config {
namespace {

Error refused(const Given& given, const std::string& expected) {
  return invalid(std::string{given.where},
                 std::string{given.where} + ": `" + std::string{given.text} + "` is not " + expected);
}

Result<void> read(Duration& into, const Given& given) {
  auto parsed = parse_duration(given.text, given.where);
  if (!parsed) return refused(given, "a duration; write 250ms, 5s, 10m, 2h or 1d");
  if (*parsed <= Duration::zero()) return refused(given, "a duration above zero");
  into = *parsed;
  return {};
}

template <class Integer>
Result<void> read_integer(Integer& into, const Given& given, Integer least, Integer most) {
  Integer number{};
  const char* end = given.text.data() + given.text.size();
  const auto [stop, problem] = std::from_chars(given.text.data(), end, number);
  if (problem != std::errc{} || stop != end || number < least || number > most) {
    return refused(given, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  into = number;
  return {};
}

Result<void> read_word(std::string& into, const Given& given) {
  if (given.text.empty()) return refused(given, "a name: it is empty");
  into = given.text;
  return {};
}

template <class Enum, std::size_t N>
Result<void> read_choice(Enum& into, const Given& given,
                         const std::array<std::pair<std::string_view, Enum>, N>& choices) {
  std::string expected = "one of";
  for (const auto& [word, value] : choices) {
    if (word == given.text) {
      into = value;
      return {};
    }
    expected += ' ';
    expected += word;
  }
  return refused(given, expected);
}

Result<void> read_generation(std::optional<Generation>& into, const Given& given) {
  if (given.text == "auto") {
    into.reset();
    return {};
  }
  auto parsed = parse_generation(given.text, given.where);
  if (!parsed) return refused(given, "a generation: a whole number of at least 1, or auto");
  into = *parsed;
  return {};
}

Result<void> read_store(StoreUrl& into, const Given& given) {
  auto parsed = parse_store_url(given.text, given.where);
  if (!parsed) return std::move(parsed).error();
  into = *std::move(parsed);
  return {};
}

Result<void> read_sentry(std::optional<SentryDsn>& into, const Given& given) {
  into.reset();
  if (given.text == kNone) return {};
  auto parsed = parse_sentry_dsn(given.text, given.where);
  if (!parsed) return std::move(parsed).error();
  into = *std::move(parsed);
  return {};
}

Result<void> read_webhook(std::optional<std::string>& into, const Given& given) {
  into.reset();
  if (given.text == kNone) return {};
  if (auto checked = check_webhook_url(given.text, given.where); !checked) return checked;
  into = given.text;
  return {};
}

Result<void> read_token(std::string& into, const Given& given) {
  into.clear();
  if (given.text == kNone) return {};
  if (auto checked = check_bearer_token(given.text, given.where); !checked) return checked;
  into = given.text;
  return {};
}

constexpr std::array kLevels{
    std::pair{std::string_view{"debug"}, LogLevel::debug}, std::pair{std::string_view{"info"}, LogLevel::info},
    std::pair{std::string_view{"warn"}, LogLevel::warn}, std::pair{std::string_view{"error"}, LogLevel::error}};
constexpr std::array kFormats{std::pair{std::string_view{"auto"}, LogFormat::automatic},
                              std::pair{std::string_view{"json"}, LogFormat::json},
                              std::pair{std::string_view{"text"}, LogFormat::text}};

constexpr std::array kRedactionModes{std::pair{std::string_view{"none"}, RedactionPolicy::Mode::none},
                                     std::pair{std::string_view{"fields"}, RedactionPolicy::Mode::fields},
                                     std::pair{std::string_view{"values"}, RedactionPolicy::Mode::values}};

// `a,b , c`: names between commas.
Result<void> read_words(std::vector<std::string>& into, const Given& given) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string{given.text} + ',') {
    if (c == ' ') continue;
    if (c != ',') {
      word += c;
      continue;
    }
    if (word.empty()) return refused(given, "names between commas: one of them is empty");
    words.push_back(std::exchange(word, {}));
  }
  into = std::move(words);
  return {};
}

constexpr int kMaxBatch = 10'000;
constexpr int kMaxThreads = 256;
constexpr int kMaxAttempts = 1'000;
constexpr std::size_t kMaxPayload = std::size_t{64} * 1024 * 1024;

const std::vector<Key>& table() {
  static const std::vector<Key> rows{
      {"store",
       "--store",
       {"SLUICE_STORE", "DATABASE_URL"},
       "",
       "where events live: sqlite:PATH or postgres://USER@HOST/DATABASE",
       Secrecy::password,
       [](Config& c, const Given& g) { return read_store(c.store, g); }},
      {"generation",
       "--generation",
       {"SLUICE_GENERATION", "SPECTRAL_GENERATION"},
       "auto",
       "the deployment generation; auto is the newest live one, else 1",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_generation(c.generation, g); }},
      {"actor",
       "--as",
       {"SLUICE_ACTOR"},
       "",
       "who the audit names",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_word(c.actor, g); }},
      {"payload_max_bytes",
       "",
       {"SLUICE_PAYLOAD_MAX_BYTES"},
       "262144",
       "a larger payload is refused",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer<std::size_t>(c.payload_max_bytes, g, 2, kMaxPayload); }},
      {"worker.batch",
       "--batch",
       {"SLUICE_WORKER_BATCH"},
       "100",
       "the most events a worker claims at once",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.worker.batch, g, 1, kMaxBatch); }},
      {"worker.claim_ttl",
       "--claim-ttl",
       {"SLUICE_WORKER_CLAIM_TTL"},
       "300s",
       "a claim that is not renewed for this long expires",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.worker.claim_ttl, g); }},
      {"worker.poll_interval",
       "--poll-interval",
       {"SLUICE_WORKER_POLL_INTERVAL"},
       "5s",
       "how often to look for events while nothing can be heard",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.worker.poll_interval, g); }},
      {"worker.safety_poll_interval",
       "",
       {"SLUICE_WORKER_SAFETY_POLL_INTERVAL"},
       "10s",
       "how often to look although the listener hears",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.worker.safety_poll_interval, g); }},
      {"worker.drain_timeout",
       "--drain-timeout",
       {"SLUICE_WORKER_DRAIN_TIMEOUT"},
       "30s",
       "a stop gives back what has not begun by then",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.worker.drain_timeout, g); }},
      {"worker.threads",
       "--threads",
       {"SLUICE_WORKER_THREADS"},
       "2",
       "threads that claim and deliver",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.worker.threads, g, 1, kMaxThreads); }},
      {"retry.attempts",
       "",
       {"SLUICE_RETRY_ATTEMPTS"},
       "5",
       "attempts in a cycle before an event fails",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.retry.max_attempts, g, 1, kMaxAttempts); }},
      {"retry.base",
       "",
       {"SLUICE_RETRY_BASE"},
       "1s",
       "bound of the first delay; it doubles with each retry",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retry.base, g); }},
      {"retry.max",
       "",
       {"SLUICE_RETRY_MAX"},
       "300s",
       "no delay exceeds it",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retry.cap, g); }},
      {"inbox.retry.attempts",
       "",
       {"MAX_ATTEMPTS"},
       "5",
       "attempts of the webhook inbox",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.inbox_retry.max_attempts, g, 1, kMaxAttempts); }},
      {"inbox.retry.base",
       "",
       {"RETRY_BASE_DELAY"},
       "5s",
       "the inbox waits base * 2^attempts, without jitter",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.inbox_retry.base, g); }},
      {"inbox.retry.max",
       "",
       {"RETRY_MAX_DELAY"},
       "300s",
       "no delay of the inbox exceeds it",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.inbox_retry.cap, g); }},
      {"retention.outbox.active",
       "",
       {"SLUICE_RETENTION_OUTBOX_ACTIVE"},
       "45d",
       "delivered and failed events are kept this long",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retention.outbox.active, g); }},
      {"retention.outbox.grace",
       "",
       {"SLUICE_RETENTION_OUTBOX_GRACE"},
       "7d",
       "then stay tombstoned this long before they are deleted",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retention.outbox.grace, g); }},
      {"retention.event_handled.active",
       "",
       {"SLUICE_RETENTION_EVENT_HANDLED_ACTIVE"},
       "60d",
       "dedup rows are kept this long; must exceed outbox active + grace",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retention.event_handled.active, g); }},
      {"retention.event_handled.grace",
       "",
       {"SLUICE_RETENTION_EVENT_HANDLED_GRACE"},
       "7d",
       "then this much longer before they are deleted",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.retention.event_handled.grace, g); }},
      {"alerts.sentry_dsn",
       "",
       {"SLUICE_SENTRY_DSN", "SENTRY_DSN"},
       kNone,
       "the Sentry project that hears of failed events",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_sentry(c.alerts.sentry, g); }},
      {"alerts.webhook_url",
       "",
       {"SLUICE_ALERT_WEBHOOK_URL"},
       kNone,
       "where failed events are posted as JSON",
       Secrecy::address,
       [](Config& c, const Given& g) { return read_webhook(c.alerts.webhook_url, g); }},
      {"alerts.webhook_token",
       "",
       {"SLUICE_ALERT_WEBHOOK_TOKEN"},
       kNone,
       "the bearer token that goes with it",
       Secrecy::whole,
       [](Config& c, const Given& g) { return read_token(c.alerts.webhook_token, g); }},
      {"alerts.window",
       "",
       {"SLUICE_ALERT_WINDOW"},
       "5m",
       "at most one alert per kind of error in this time; the others are counted",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.alerts.window, g); }},
      {"operations.lease",
       "",
       {"SLUICE_OPERATIONS_LEASE"},
       "5s",
       "a bulk replay is taken over from a process that was silent for this long",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.operation_lease, g); }},
      {"redact.mode",
       "",
       {"SLUICE_REDACT_MODE"},
       "fields",
       "what exports and agents do not see of a payload: none, fields or values",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.redaction.mode, g, kRedactionModes); }},
      {"redact.fields",
       "",
       {"SLUICE_REDACT_FIELDS"},
       "password,passwd,secret,token,apikey,authorization,cookie,email,phone,address,iban,card,ssn",
       "members whose name contains one of these are hidden",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_words(c.redaction.fields, g); }},
      {"log.level",
       "--log-level",
       {"SLUICE_LOG_LEVEL"},
       "info",
       "debug, info, warn or error",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.log.level, g, kLevels); }},
      {"log.format",
       "--log-format",
       {"SLUICE_LOG_FORMAT"},
       "auto",
       "json, text, or auto: text on a terminal",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_choice(c.log.format, g, kFormats); }},
      {"service",
       "",
       {"SLUICE_SERVICE"},
       "sluice",
       "the service that log lines name",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_word(c.service, g); }},
      {"environment",
       "",
       {"SLUICE_ENVIRONMENT"},
       "development",
       "the environment that log lines name",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_word(c.environment, g); }},
  };
  return rows;
}

}  // namespace

std::span<const Key> keys() { return table(); }

const Key* find_key(std::string_view name) {
  for (const Key& key : table()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::vector<std::string_view> key_names() {
  std::vector<std::string_view> names;
  for (const Key& key : table()) names.push_back(key.name);
  return names;
}

}  // namespace sluice::config
