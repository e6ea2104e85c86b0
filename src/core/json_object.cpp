#include "core/json_object.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "core/json.hpp"

namespace sluice {

JsonObject::JsonObject(std::string_view object) : body_(object) {
  assert(body_.size() >= 2 && body_.front() == '{' && body_.back() == '}');
  body_.pop_back();
}

void JsonObject::name(std::string_view name) {
  if (body_.size() > 1) body_ += ',';
  json::append_quoted(body_, name);
  body_ += ':';
}

JsonObject& JsonObject::text(std::string_view member, std::optional<std::string_view> value) {
  if (!value) return raw(member, "null");
  name(member);
  json::append_quoted(body_, *value);
  return *this;
}

JsonObject& JsonObject::time(std::string_view member, std::optional<Timestamp> value) {
  return value ? text(member, to_iso8601(*value)) : raw(member, "null");
}

JsonObject& JsonObject::uuid(std::string_view member, const std::optional<Uuid>& value) {
  return value ? text(member, value->to_string()) : raw(member, "null");
}

JsonObject& JsonObject::number(std::string_view member, std::int64_t value) {
  return raw(member, std::to_string(value));
}

JsonObject& JsonObject::decimal(std::string_view member, double value) { return raw(member, json_decimal(value)); }

JsonObject& JsonObject::boolean(std::string_view member, bool value) { return raw(member, value ? "true" : "false"); }

JsonObject& JsonObject::raw(std::string_view member, std::string_view json) {
  name(member);
  body_ += json;
  return *this;
}

JsonObject& JsonObject::texts(std::string_view member, const std::vector<std::string>& values) {
  std::vector<std::string> elements;
  elements.reserve(values.size());
  for (const std::string& value : values) elements.push_back(json::quote(value));
  return array(member, elements);
}

JsonObject& JsonObject::array(std::string_view member, const std::vector<std::string>& elements) {
  return raw(member, json_array(elements));
}

std::string json_decimal(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 352> digits{};  // enough for the largest double
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 3).ptr;
  std::string text{digits.data(), end};
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string json_array(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) {
    if (out.size() > 1) out += ',';
    out += element;
  }
  return out + ']';
}

}  // namespace sluice
