#include "config/key_values.hpp"

#include "core/try.hpp"

namespace sluice::config {

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

Result<void> read_word(std::string& into, const Given& given) {
  if (given.text.empty()) return refused(given, "a name: it is empty");
  into = given.text;
  return {};
}

Result<void> read_optional_word(std::string& into, const Given& given) {
  into.clear();
  return given.text == kNone ? Result<void>{} : read_word(into, given);
}

Result<void> read_broker(std::vector<std::string>& into, const Given& given) {
  into.clear();
  if (given.text == kNone) return {};
  SLUICE_CHECK(read_words(into, given));
  const auto is = [](const std::string& url, std::string_view scheme) { return url.starts_with(scheme); };
  if (is(into.front(), "rediss://")) {
    return invalid(std::string{given.where}, std::string{given.where} +
                                                 ": this build has no TLS for Redis: put stunnel or another TLS proxy "
                                                 "on this machine, and write redis://");
  }
  const bool redis = is(into.front(), "redis://");
  for (const std::string& url : into) {
    const bool fits = redis ? is(url, "redis://") : is(url, "nats://") || is(url, "tls://");
    if (!fits)
      return refused(given, "the address of a broker; write nats://HOST:4222, tls://HOST:4222 or redis://HOST:6379");
  }
  if (redis && into.size() > 1) return refused(given, "one address: Redis takes one");
  return {};
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
  SLUICE_TRY(into, parse_store_url(given.text, given.where));
  return {};
}

Result<void> read_sentry(std::optional<SentryDsn>& into, const Given& given) {
  into.reset();
  if (given.text == kNone) return {};
  SLUICE_TRY(into, parse_sentry_dsn(given.text, given.where));
  return {};
}

Result<void> read_webhook(std::optional<std::string>& into, const Given& given) {
  into.reset();
  if (given.text == kNone) return {};
  SLUICE_CHECK(check_webhook_url(given.text, given.where));
  into = given.text;
  return {};
}

Result<void> read_token(std::string& into, const Given& given) {
  into.clear();
  if (given.text == kNone) return {};
  SLUICE_CHECK(check_bearer_token(given.text, given.where));
  into = given.text;
  return {};
}

Result<void> read_listen(std::optional<ListenAddress>& into, const Given& given) {
  into.reset();
  if (given.text == "off") return {};
  auto parsed = parse_listen_address(given.text);
  if (!parsed) return refused(given, "an address; write 127.0.0.1:7311, [::1]:7311 or off");
  into = *std::move(parsed);
  return {};
}

Result<void> read_prefix(std::string& into, const Given& given) {
  auto parsed = parse_prefix(given.text);
  if (!parsed) return refused(given, "a path; write /ops/sluice, or / for none");
  into = *std::move(parsed);
  return {};
}

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

Result<void> read_hosts(std::vector<std::string>& into, const Given& given) {
  into.clear();
  return given.text == kNone ? Result<void>{} : read_words(into, given);
}

Result<void> read_flag(bool& into, const Given& given) {
  constexpr std::array kFlags{std::pair{std::string_view{"true"}, true}, std::pair{std::string_view{"false"}, false}};
  return read_choice(into, given, kFlags);
}

}  // namespace sluice::config
