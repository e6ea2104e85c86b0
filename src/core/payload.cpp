#include <sluice/payload.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/json.hpp"
#include "core/try.hpp"

namespace sluice::detail {
namespace {

constexpr json::Limits kDeep{.depth = json::kMaxDepth};

std::string_view kind_of(std::string_view json) {
  switch (json.empty() ? '\0' : json.front()) {
    case '{':
      return "an object";
    case '[':
      return "an array";
    case '"':
      return "a string";
    case 't':
    case 'f':
      return "true or false";
    case 'n':
      return "null";
    default:
      return "a number";
  }
}

bool is_number(std::string_view json) { return kind_of(json) == "a number"; }

Error refuse(const PayloadPath& path, const std::string& problem) {
  std::string where = path.text();
  std::string message = where + ' ' + problem;
  return invalid(std::move(where), std::move(message));
}

Result<std::string> read_string(std::string_view json, const PayloadPath& path, const std::string& expected) {
  if (!json.starts_with('"')) return payload_mistyped(path, expected, json);
  return json::string_value(json, "payload");
}

}  // namespace

std::string PayloadPath::text() const {
  if (parent == nullptr) return std::string{name};
  return name.empty() ? parent->text() + '[' + std::to_string(element) + ']' : parent->text() + '.' + std::string{name};
}

Error payload_missing(const PayloadPath& path, const std::string& expected) {
  return refuse(path, "is missing; it must be " + expected);
}

Error payload_mistyped(const PayloadPath& path, const std::string& expected, std::string_view json) {
  return refuse(path, "must be " + expected + ", not " + std::string{kind_of(json)});
}

Result<void> check_payload_text(std::string_view json) {
  SLUICE_CHECK(json::check(json, "payload", kDeep));
  return {};
}

Result<PayloadObject> payload_object(std::string_view json, const PayloadPath& path) {
  const std::size_t begin = json.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos) json.remove_prefix(begin);
  if (!json.starts_with('{')) return payload_mistyped(path, "an object", json);
  SLUICE_TRY(auto members, json::members(json, path.parent == nullptr ? path.name : path.text(), kDeep));
  PayloadObject object;
  object.reserve(members.size());
  for (auto& member : members) object.push_back({std::move(member.name), member.value});
  return object;
}

Result<std::vector<std::string_view>> payload_array(std::string_view json, const PayloadPath& path) {
  if (!json.starts_with('[')) return payload_mistyped(path, "an array", json);
  return json::elements(json, "payload", kDeep);
}

std::string one_of(const std::vector<std::string_view>& names) {
  std::string listed;
  for (const auto name : names) listed += (listed.empty() ? "" : ", ") + std::string{name};
  return "one of the strings " + listed;
}

Result<std::size_t> payload_choice(std::string_view json, const PayloadPath& path,
                                   const std::vector<std::string_view>& names) {
  SLUICE_TRY(const auto text, read_string(json, path, one_of(names)));
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return refuse(path, "must be " + one_of(names));
  return static_cast<std::size_t>(found - names.begin());
}

Result<std::int64_t> read_integer(std::string_view json, const PayloadPath& path, IntegerRange range) {
  if (!is_number(json)) return payload_mistyped(path, "a whole number", json);
  if (json.find_first_of(".eE") != std::string_view::npos) {
    return refuse(path, "must be a whole number without a fraction or an exponent");
  }
  std::int64_t value = 0;
  const auto status = std::from_chars(json.data(), json.data() + json.size(), value).ec;
  if (status != std::errc{} || value < range.least || value > range.most) {
    return refuse(path,
                  "must be a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most));
  }
  return value;
}

Result<void> read_scalar(std::string_view json, const PayloadPath& path, bool& into) {
  if (kind_of(json) != "true or false") return payload_mistyped(path, "true or false", json);
  into = json == "true";
  return {};
}

Result<void> read_scalar(std::string_view json, const PayloadPath& path, double& into) {
  if (!is_number(json)) return payload_mistyped(path, "a number", json);
  const auto status = std::from_chars(json.data(), json.data() + json.size(), into).ec;
  if (status != std::errc{}) return refuse(path, "must be a number that a double can hold");
  return {};
}

Result<void> read_scalar(std::string_view json, const PayloadPath& path, std::string& into) {
  SLUICE_TRY(into, read_string(json, path, "a string"));
  return {};
}

Result<void> read_scalar(std::string_view json, const PayloadPath& path, Uuid& into) {
  SLUICE_TRY(const auto text, read_string(json, path, "a uuid"));
  const auto id = Uuid::parse(text);
  if (!id) return refuse(path, "must be a uuid of 36 characters");
  into = *id;
  return {};
}

Result<void> read_scalar(std::string_view json, const PayloadPath& path, Timestamp& into) {
  SLUICE_TRY(const auto text, read_string(json, path, "a point in time"));
  const auto at = parse_iso8601(text);
  if (!at) return refuse(path, "must be a point in time, like 2026-04-25T01:43:02Z");
  into = *at;
  return {};
}

Result<void> read_scalar(std::string_view json, const PayloadPath& /*path*/, RawJson& into) {
  into.text = json;
  return {};
}

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
