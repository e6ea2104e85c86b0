// From the text of a single key to its value. An error names where the text stands and what is expected.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/key_table.hpp"

namespace sluice::config {

/// `… is not EXPECTED`.
Error refused(const Given& given, const std::string& expected);

Result<void> read(Duration& into, const Given& given);  ///< above zero
Result<void> read_word(std::string& into, const Given& given);
Result<void> read_optional_word(std::string& into, const Given& given);        ///< `none` is empty
Result<void> read_broker(std::vector<std::string>& into, const Given& given);  ///< URLs of one kind between commas
Result<void> read_words(std::vector<std::string>& into, const Given& given);   ///< `a,b , c`
Result<void> read_flag(bool& into, const Given& given);
Result<void> read_generation(std::optional<Generation>& into, const Given& given);
Result<void> read_store(StoreUrl& into, const Given& given);
Result<void> read_sentry(std::optional<SentryDsn>& into, const Given& given);
Result<void> read_webhook(std::optional<std::string>& into, const Given& given);
Result<void> read_token(std::string& into, const Given& given);
Result<void> read_listen(std::optional<ListenAddress>& into, const Given& given);
Result<void> read_prefix(std::string& into, const Given& given);
Result<void> read_hosts(std::vector<std::string>& into, const Given& given);

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

}  // namespace sluice::config
