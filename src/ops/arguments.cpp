#include "ops/arguments.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/event_query.hpp"

namespace sluice::ops {
namespace {

using Type = Parameter::Type;

std::string_view json_type(Type type) {
  switch (type) {
    case Type::integer:
      return "integer";
    case Type::boolean:
      return "boolean";
    case Type::object:
      return "object";
    case Type::uuids:
    case Type::texts:
      return "array";
    case Type::text:
    case Type::any_text:
    case Type::reason:
    case Type::uuid:
    case Type::event_id:
      break;
  }
  return "string";
}

std::string schema_of(const Parameter& parameter) {
  JsonObject object;
  object.text("type", json_type(parameter.type));
  if (parameter.type == Type::uuid) object.text("format", "uuid");
  if (parameter.type == Type::uuids) object.raw("items", R"({"type":"string","format":"uuid"})");
  if (parameter.type == Type::texts) object.raw("items", R"({"type":"string"})");
  const bool bounded = parameter.type == Type::text || parameter.type == Type::reason;
  if (bounded) object.number("minLength", 1).number("maxLength", kMaxTextBytes);
  if (parameter.least != std::numeric_limits<std::int64_t>::min()) object.number("minimum", parameter.least);
  if (parameter.most != std::numeric_limits<std::int64_t>::max()) object.number("maximum", parameter.most);
  if (parameter.standard) object.number("default", *parameter.standard);
  return object.text("description", parameter.description).str();
}

std::string names_of(const std::vector<Parameter>& parameters) {
  std::string names;
  for (const Parameter& parameter : parameters) names += (names.empty() ? "" : ", ") + std::string{parameter.name};
  return names.empty() ? "none" : names;
}

Error refused(const Parameter& parameter, const std::string& expected) {
  const std::string name{parameter.name};
  return invalid(name, name + " must be " + expected);
}

std::string range_of(const Parameter& parameter) {
  const bool bounded = parameter.most != std::numeric_limits<std::int64_t>::max();
  return "a whole number from " + std::to_string(parameter.least) +
         (bounded ? " to " + std::to_string(parameter.most) : " on");
}

Result<std::int64_t> read_integer(const Parameter& parameter, std::string_view raw) {
  std::int64_t number = 0;
  const auto [stop, problem] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  const bool whole = problem == std::errc{} && stop == raw.data() + raw.size();
  if (!whole || number < parameter.least || number > parameter.most) return refused(parameter, range_of(parameter));
  return number;
}

}  // namespace

std::string input_schema(const std::vector<Parameter>& parameters) {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Parameter& parameter : parameters) {
    properties.raw(parameter.name, schema_of(parameter));
    if (parameter.required) required.emplace_back(parameter.name);
  }
  JsonObject object;
  object.text("type", "object").raw("properties", properties.str());
  if (!required.empty()) object.texts("required", required);
  return object.boolean("additionalProperties", false).str();
}

Result<Arguments> Arguments::read(const std::vector<Parameter>& parameters, std::string_view json,
                                  const json::Limits& limits) {
  Arguments arguments;
  SLUICE_TRY(const auto members, json::members(json.empty() ? "{}" : json, "arguments", limits));
  for (const auto& [name, value] : members) {
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&name = name](const Parameter& parameter) { return parameter.name == name; });
    if (known == parameters.end()) {
      return invalid(name, "`" + name + "` is not one of the arguments; these are " + names_of(parameters));
    }
    SLUICE_CHECK(arguments.take(*known, value, limits));
  }
  for (const Parameter& parameter : parameters) {
    const bool given = std::any_of(members.begin(), members.end(),
                                   [&](const json::Member& member) { return member.name == parameter.name; });
    if (!given && parameter.required && parameter.type == Type::reason) SLUICE_CHECK(check_reason(""));
    if (!given && parameter.required) {
      return invalid(std::string{parameter.name}, std::string{parameter.name} + " is missing");
    }
    if (!given && parameter.standard) arguments.integers_.emplace(parameter.name, *parameter.standard);
  }
  return arguments;
}

Result<void> Arguments::take(const Parameter& parameter, std::string_view raw, const json::Limits& limits) {
  if (parameter.type == Type::uuids || parameter.type == Type::texts) return take_list(parameter, raw);
  if (parameter.type == Type::boolean) {
    if (raw != "true" && raw != "false") return refused(parameter, "true or false");
    flags_.emplace(parameter.name, raw == "true");
    return {};
  }
  if (parameter.type == Type::object) {
    if (!raw.starts_with('{')) return refused(parameter, "a JSON object");
    texts_.emplace(parameter.name, raw);
    return {};
  }
  if (parameter.type == Type::integer) {
    SLUICE_TRY(const auto number, read_integer(parameter, raw));
    integers_.emplace(parameter.name, number);
    return {};
  }
  auto text = json::string_value(raw, parameter.name, limits);
  if (!text) return refused(parameter, "a string");
  if (parameter.type == Type::reason) {
    SLUICE_CHECK(parameter.required ? check_reason(*text) : check_optional_reason(*text));
  }
  if (parameter.type == Type::any_text || parameter.type == Type::reason) {
    texts_.emplace(parameter.name, *std::move(text));
    return {};
  }
  if (parameter.type == Type::uuid) {
    const auto id = Uuid::parse(*text, parameter.name);
    if (!id) return refused(parameter, "a UUID like 0190a5d0-0000-7000-8000-000000000001");
    uuids_.emplace(parameter.name, *id);
    return {};
  }
  if (parameter.type == Type::event_id) SLUICE_CHECK(id_digits(*text, parameter.name));
  const bool blank = text->find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank) return refused(parameter, "a text that is not empty");
  if (text->size() > kMaxTextBytes) {
    return refused(parameter, "a text of at most " + std::to_string(kMaxTextBytes) + " bytes");
  }
  texts_.emplace(parameter.name, *std::move(text));
  return {};
}

Result<void> Arguments::take_list(const Parameter& parameter, std::string_view raw) {
  const bool ids = parameter.type == Type::uuids;
  const auto elements = json::elements(raw, parameter.name);
  if (!elements) return refused(parameter, ids ? "a list of UUIDs" : "a list of strings");
  if (elements->size() > kMaxListed) return refused(parameter, "a list of at most " + std::to_string(kMaxListed));
  std::vector<Uuid> uuids;
  std::vector<std::string> texts;
  for (const std::string_view element : *elements) {
    auto text = json::string_value(element, parameter.name);
    if (!text || text->empty()) return refused(parameter, ids ? "a list of UUIDs" : "a list of strings");
    if (ids) {
      const auto id = Uuid::parse(*text, parameter.name);
      if (!id) return refused(parameter, "a list of UUIDs; `" + text->substr(0, 64) + "` is none");
      uuids.push_back(*id);
    } else {
      texts.push_back(*std::move(text));
    }
  }
  if (ids) {
    uuid_lists_.emplace(parameter.name, std::move(uuids));
  } else {
    text_lists_.emplace(parameter.name, std::move(texts));
  }
  return {};
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::int64_t> Arguments::integer(std::string_view name) const {
  const auto found = integers_.find(name);
  return found == integers_.end() ? std::nullopt : std::optional{found->second};
}

Uuid Arguments::uuid(std::string_view name) const {
  const auto found = uuids_.find(name);
  assert(found != uuids_.end() && "not a required parameter");
  return found->second;
}

bool Arguments::flag(std::string_view name) const {
  const auto found = flags_.find(name);
  return found != flags_.end() && found->second;
}

std::vector<Uuid> Arguments::uuids(std::string_view name) const {
  const auto found = uuid_lists_.find(name);
  return found == uuid_lists_.end() ? std::vector<Uuid>{} : found->second;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const auto found = text_lists_.find(name);
  return found == text_lists_.end() ? std::vector<std::string>{} : found->second;
}

std::string to_json(const Error& error) {
  const std::string body = JsonObject{}
                               .text("code", name(error.code))
                               .text("message", error.message)
                               .text("field", error.field)
                               .text("hint", error.hint)
                               .text("retry", name(error.retry))
                               .str();
  return JsonObject{}.raw("error", body).str();
}

}  // namespace sluice::ops
