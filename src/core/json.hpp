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
  bool measured = false;  ///< parts are told with what stored_bytes would find out, and not refused for it
  bool any_text = false;  ///< `\u0000` is taken, and an unpaired surrogate as U+FFFD: for text that no jsonb will hold
};

/// What PostgreSQL's numeric holds: digits before and after the decimal point.
inline constexpr std::int64_t kMostIntegerDigits = 131'072;
inline constexpr std::int64_t kMostFractionDigits = 16'383;

/// What one pass over a value has seen of it, so that whoever stores it need not read it again.
struct Measure {
  Kind kind = Kind::null;
  int depth = 0;                 ///< levels of objects and arrays; 0: neither
  std::size_t stored_bytes = 0;  ///< as Limits::stored_bytes counts
  bool storable = false;         ///< no member comes twice and every number fits

  /// Would check() pass it within these limits?
  [[nodiscard]] bool is_within(const Limits& limits) const {
    return depth <= limits.depth && (limits.stored_bytes == 0 || (storable && stored_bytes <= limits.stored_bytes));
  }
};

/// A member of an object: the unescaped name and the raw text of the value.
struct Member {
  std::string name;
  std::string_view value;
};

/// A value with its own parts: a whole document, a member, or an element of an array, which has no name.
struct Part {
  std::string name;
  std::string_view value;
  Measure measure{};
  std::vector<Part> parts;  ///< members or elements, where they were asked for
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

/// Whether a part of a document is to be taken apart as well; `level` is 1 for the document's own parts.
using Split = bool (*)(int level, const Part& part);
/// The document and, by `split`, the parts of its parts, each measured, in one pass.
Result<Part> outline(std::string_view text, std::string_view field, Split split = nullptr);
/// Of an outline: the members of an object, as members() gives them, and the elements of an array.
Result<std::vector<Part>> members_of(Part object, std::string_view field);
Result<std::vector<Part>> elements_of(Part array, std::string_view field);

/// How many bytes this thread has read as JSON so far: for a test that counts how often a text is read.
std::size_t bytes_read();

/// The value of a JSON string.
Result<std::string> string_value(std::string_view raw, std::string_view field, const Limits& limits = {});

/// `text` as a JSON string with its quotes. Control characters are escaped; bytes that are not UTF-8
/// become U+FFFD, so that the result is always valid JSON.
std::string quote(std::string_view text);
void append_quoted(std::string& out, std::string_view text);

}  // namespace sluice::json

namespace sluice {

struct EnvelopeDraft;
struct EnvelopeLimits;
class EventEnvelope;

/// EventEnvelope::make() where the payload was measured with the text around it: it is not read again.
Result<EventEnvelope> make_measured(EnvelopeDraft draft, const EnvelopeLimits& limits, const json::Measure& payload);

}  // namespace sluice
