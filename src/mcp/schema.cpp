#include "mcp/schema.hpp"

#include "core/json_object.hpp"

namespace sluice::mcp::schema {
namespace {

std::string described(JsonObject object, std::string_view description) {
  if (!description.empty()) object.text("description", description);
  return object.str();
}

std::string string_of(std::string_view format, std::string_view description) {
  JsonObject object;
  object.text("type", "string");
  if (!format.empty()) object.text("format", format);
  return described(std::move(object), description);
}

JsonObject of_type(std::string_view type) {
  JsonObject object;
  object.text("type", type);
  return object;
}

}  // namespace

std::string text(std::string_view description) { return string_of({}, description); }
std::string uuid(std::string_view description) { return string_of("uuid", description); }
std::string time(std::string_view description) { return string_of("date-time", description); }
std::string integer(std::string_view description) { return described(of_type("integer"), description); }
std::string number(std::string_view description) { return described(of_type("number"), description); }
std::string boolean(std::string_view description) { return described(of_type("boolean"), description); }
std::string anything(std::string_view description) { return described({}, description); }

std::string choice(const std::vector<std::string_view>& values, std::string_view description) {
  JsonObject object = of_type("string");
  object.texts("enum", {values.begin(), values.end()});
  return described(std::move(object), description);
}

std::string nullable(std::string_view schema) {
  return JsonObject{}.array("anyOf", {std::string{schema}, of_type("null").str()}).str();
}

std::string list(std::string_view items, std::string_view description) {
  JsonObject object = of_type("array");
  object.raw("items", items);
  return described(std::move(object), description);
}

std::string object(const Members& members, std::string_view description) {
  JsonObject properties;
  std::vector<std::string> names;
  for (const auto& [name, schema] : members) {
    properties.raw(name, schema);
    names.emplace_back(name);
  }
  JsonObject object = of_type("object");
  object.raw("properties", properties.str()).texts("required", names).boolean("additionalProperties", false);
  return described(std::move(object), description);
}

}  // namespace sluice::mcp::schema
