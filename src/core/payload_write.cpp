#include <array>
#include <charconv>
#include <cmath>

#include <sluice/payload.hpp>
#include "core/json.hpp"

namespace sluice::detail {
namespace {

using namespace std::chrono_literals;

// The years that parse_iso8601 reads back.
constexpr Timestamp kFirst = std::chrono::sys_days{1y / std::chrono::January / 1};
constexpr Timestamp kEnd = std::chrono::sys_days{10000y / std::chrono::January / 1};

}  // namespace

void append_name(std::string& out, std::size_t object_begin, std::string_view name) {
  out += out.size() == object_begin ? '{' : ',';
  json::append_quoted(out, name);
  out += ':';
}

void append_integer(std::string& out, std::int64_t value) { out += std::to_string(value); }

void append_scalar(std::string& out, bool value) { out += value ? "true" : "false"; }

void append_scalar(std::string& out, double value) {
  if (!std::isfinite(value)) return append_unwritable(out);
  std::array<char, 32> text{};  // the shortest form that reads back as the same double has at most 24
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

void append_scalar(std::string& out, std::string_view value) { json::append_quoted(out, value); }

void append_scalar(std::string& out, const Uuid& value) { json::append_quoted(out, value.to_string()); }

void append_scalar(std::string& out, Timestamp value) {
  if (value < kFirst || value >= kEnd) return append_unwritable(out);
  json::append_quoted(out, to_iso8601(value));
}

void append_scalar(std::string& out, const RawJson& value) {
  if (!json::check(value.text, "payload", {.depth = json::kMaxDepth})) return append_unwritable(out);
  out += value.text;
}

void append_unwritable(std::string& out) { out += "NaN"; }

}  // namespace sluice::detail
