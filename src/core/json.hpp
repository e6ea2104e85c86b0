// A small JSON reader that never changes what it reads: it checks well-formedness and hands out
// slices of the input. The envelope's payload travels as text, so a tree is never built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::json {

enum class Kind { object, array, string, number, boolean, null };

/// No limit reaches deeper than this: the reader recurses once per level.
inline constexpr int kMaxDepth = 512;

struct Limits {
  int depth = 64;  ///< nesting of objects and arrays, at most kMaxDepth
  /// More than 0: the value is to be stored, so it is refused where PostgreSQL's jsonb would change or refuse it (a
  /// member that comes twice, a number beyond the range of numeric) or would write it with more bytes than this, spaces
  /// between its parts not counted.
  std::size_t stored_bytes = 0;
  bool any_text = false;  ///< `\u0000` is taken, and an unpaired surrogate as U+FFFD: for text that no jsonb will hold
};

/// What PostgreSQL's numeric holds: digits before and after the decimal point.
inline constexpr std::int64_t kMostIntegerDigits = 131'072;
inline constexpr std::int64_t kMostFractionDigits = 16'383;

/// A member of an object: the unescaped name and the raw text of the value.
struct Member {
  std::string name;
  std::string_view value;
};

/// Checks that `text` is exactly one JSON value in valid UTF-8 and tells its kind. The error's
/// message gives line and column; `field` names the input. NUL characters (`\u0000`)
/// and unpaired surrogates are refused because PostgreSQL's jsonb cannot hold them.
Result<Kind> check(std::string_view text, std::string_view field, const Limits& limits = {});

/// The members of an object in order; a duplicate name is an error.
Result<std::vector<Member>> members(std::string_view object, std::string_view field, const Limits& limits = {});

/// The elements of an array in order, as raw text.
Result<std::vector<std::string_view>> elements(std::string_view array, std::string_view field,
                                               const Limits& limits = {});

/// The value of a JSON string.
Result<std::string> string_value(std::string_view raw, std::string_view field, const Limits& limits = {});

/// `text` as a JSON string with its quotes. Control characters are escaped; bytes that are not UTF-8
/// become U+FFFD, so that the result is always valid JSON.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace sluice::json
