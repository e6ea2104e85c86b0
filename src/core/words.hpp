// Texts as machines take them apart, and lists and counts as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>

namespace sluice {

/// `a, b, c`
template <class Words>
std::string joined(const Words& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

/// `1 event`, `2 events`
std::string counted(std::int64_t count, std::string_view noun);

/// `0.4 ms`, `12 ms`, `1.2 s`, `95 s`: what something took, to two digits or whole seconds.
std::string brief_duration(Duration duration);

/// Of ASCII letters only.
std::string lower_case(std::string_view text);
/// Of ASCII letters only, as names of headers are.
bool is_same_ignoring_case(std::string_view a, std::string_view b);
/// At least one.
bool is_digits(std::string_view text);
/// Without white space at either end.
std::string_view trimmed(std::string_view text);
/// `a,,b` has three parts, and an empty text has one.
std::vector<std::string_view> split(std::string_view text, char separator);

/// `"say \"no\""`: `"` and `\` stand behind a backslash.
std::string in_quotes(std::string_view text);
/// The text that `rest` begins with in such quotes, and `rest` is what follows them; none, and `rest` stays: they do
/// not close.
std::optional<std::string> take_quoted(std::string_view& rest);

/// What `%` followed by no two hexadecimal digits means.
enum class BadEscape { refused, kept };
/// `a%20b` is `a b`. None: a bad escape that is refused; one that is kept stands for itself.
std::optional<std::string> percent_decoded(std::string_view text, BadEscape bad);

/// Safe for a terminal, on one line: control characters and text-direction overrides are dropped,
/// white space becomes a space, bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

/// "did you mean …?": the candidate with the fewest single-character edits (swapped neighbours count as one), if it is
/// near enough to be a plausible typo: at most a third of the longer word, and never all of it.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace sluice
