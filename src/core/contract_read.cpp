#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "core/contract.hpp"
#include "core/generation.hpp"
#include "core/json.hpp"

namespace sluice {
namespace {

using Keywords = std::map<std::string, std::string_view, std::less<>>;

constexpr std::array<std::string_view, 6> kSubset{"type",       "format",   "enum",
                                                  "properties", "required", "additionalProperties"};
constexpr std::array<std::string_view, 7> kAnnotations{"$schema",     "$id",     "$comment", "title",
                                                       "description", "default", "examples"};
constexpr std::array<ShapeKind, 6> kKinds{ShapeKind::boolean, ShapeKind::integer, ShapeKind::number,
                                          ShapeKind::string,  ShapeKind::array,   ShapeKind::object};

bool is_known(std::string_view keyword) {
  return keyword == "items" || keyword.starts_with("x-") ||
         std::find(kSubset.begin(), kSubset.end(), keyword) != kSubset.end() ||
         std::find(kAnnotations.begin(), kAnnotations.end(), keyword) != kAnnotations.end();
}

// Reads one schema and what is nested in it. `where` is a path of keywords for people:
// `scan.v1.json properties.items`.
class SchemaReader {
 public:
  Result<Contract> document(std::string_view schema, const std::string& where) {
    const auto keywords = open(schema, where);
    if (!keywords) return keywords.error();
    Contract contract;
    if (auto read = header(*keywords, where, contract); !read) return std::move(read).error();
    auto shape = read_shape(*keywords, where);
    if (!shape) return std::move(shape).error();
    contract.shape = *std::move(shape);
    if (contract.shape.kind != ShapeKind::object || contract.shape.nullable) {
      return refuse(where, "must have the type object, because a payload is an object");
    }
    return contract;
  }

 private:
  static Error refuse(const std::string& where, const std::string& problem) {
    return invalid(where, where + ' ' + problem);
  }

  static Result<Keywords> open(std::string_view schema, const std::string& where) {
    auto members = json::members(schema, where);
    if (!members) return std::move(members).error();
    Keywords keywords;
    for (auto& member : *members) {
      if (!is_known(member.name)) {
        return refuse(where, "has the keyword " + json::quote(member.name) +
                                 ", which contracts do not use; type, format, enum, items, properties, required and "
                                 "additionalProperties are understood");
      }
      keywords.emplace(std::move(member.name), member.value);
    }
    return keywords;
  }

  static Result<std::string> text(const Keywords& keywords, std::string_view keyword, const std::string& where) {
    const auto found = keywords.find(keyword);
    if (found == keywords.end()) return std::string{};
    return json::string_value(found->second, where + ' ' + std::string{keyword});
  }

  static Result<void> header(const Keywords& keywords, const std::string& where, Contract& into) {
    auto event_type = text(keywords, "x-event-type", where);
    if (!event_type) return std::move(event_type).error();
    if (!check_event_type(*event_type)) return refuse(where, "must name its event type in \"x-event-type\"");
    into.event_type = *std::move(event_type);
    const auto version = keywords.find("x-event-version");
    const std::string_view digits = version == keywords.end() ? std::string_view{} : version->second;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), into.event_version);
    if (status != std::errc{} || end != digits.data() + digits.size() || into.event_version < 1) {
      return refuse(where, "must have a whole number from 1 in \"x-event-version\"");
    }
    return {};
  }

  Result<Shape> read_shape(const Keywords& keywords, const std::string& where) {
    Shape shape;
    if (auto read = read_type(keywords, where, shape); !read) return std::move(read).error();
    for (const auto& [keyword, into] :
         {std::pair{"format", &shape.format}, std::pair{"description", &shape.description}}) {
      auto value = text(keywords, keyword, where);
      if (!value) return std::move(value).error();
      *into = *std::move(value);
    }
    if (auto read = read_names(keywords, where, shape); !read) return std::move(read).error();
    if (auto read = read_items(keywords, where, shape); !read) return std::move(read).error();
    if (auto read = read_properties(keywords, where, shape); !read) return std::move(read).error();
    return shape;
  }

  static Result<void> read_type(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("type");
    if (found == keywords.end()) return {};
    std::vector<std::string_view> types{found->second};
    if (found->second.starts_with('[')) {
      auto listed = json::elements(found->second, where);
      if (!listed) return std::move(listed).error();
      types = *std::move(listed);
    }
    into.nullable = std::erase(types, R"("null")") > 0;
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](ShapeKind one) {
      return types.size() == 1 && types.front() == json::quote(name(one));
    });
    if (kind == kKinds.end()) {
      return refuse(where,
                    "must have one type of boolean, integer, number, string, array and object, and perhaps null");
    }
    into.kind = *kind;
    return {};
  }

  static Result<void> read_names(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("enum");
    if (found == keywords.end()) return {};
    auto values = json::elements(found->second, where + " enum");
    if (!values) return std::move(values).error();
    if (into.kind != ShapeKind::string) return refuse(where, "must have the type string beside \"enum\"");
    for (const std::string_view value : *values) {
      if (value == "null") continue;
      auto one = json::string_value(value, where + " enum");
      if (!one) return std::move(one).error();
      into.names.push_back(*std::move(one));
    }
    if (into.names.empty()) return refuse(where, "must list at least one string in \"enum\"");
    return {};
  }

  Result<void> read_items(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("items");
    if (found == keywords.end()) {
      // Without a word about them the elements may be anything.
      if (into.kind == ShapeKind::array) into.items.emplace_back();
      return {};
    }
    if (into.kind != ShapeKind::array) return refuse(where, "must have the type array beside \"items\"");
    auto item = nested(found->second, where + " items");
    if (!item) return std::move(item).error();
    into.items.push_back(*std::move(item));
    return {};
  }

  Result<void> read_properties(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto closed = keywords.find("additionalProperties");
    if (closed != keywords.end() && closed->second != "true") {
      return refuse(where, "must leave \"additionalProperties\" true, because readers ignore what they do not know");
    }
    const bool is_object = into.kind == ShapeKind::object;
    if (!is_object && (keywords.contains("properties") || keywords.contains("required"))) {
      return refuse(where, "must have the type object beside \"properties\" and \"required\"");
    }
    if (const auto found = keywords.find("properties"); found != keywords.end()) {
      const auto members = json::members(found->second, where + " properties");
      if (!members) return members.error();
      for (const auto& member : *members) {
        auto shape = nested(member.value, where + " properties." + member.name);
        if (!shape) return std::move(shape).error();
        into.properties.push_back({member.name, *std::move(shape), false});
      }
    }
    return read_required(keywords, where, into);
  }

  static Result<void> read_required(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("required");
    if (found == keywords.end()) return {};
    const auto names = json::elements(found->second, where + " required");
    if (!names) return names.error();
    for (const std::string_view raw : *names) {
      const auto wanted = json::string_value(raw, where + " required");
      if (!wanted) return wanted.error();
      const auto property = std::find_if(into.properties.begin(), into.properties.end(),
                                         [&](const ShapeProperty& one) { return one.name == *wanted; });
      if (property == into.properties.end()) {
        return refuse(where, "requires " + json::quote(*wanted) + ", which is not among its properties");
      }
      property->required = true;
    }
    return {};
  }

  // The text's own depth limit bounds this recursion.
  Result<Shape> nested(std::string_view schema, const std::string& where) {
    const auto keywords = open(schema, where);
    if (!keywords) return keywords.error();
    return read_shape(*keywords, where);
  }
};

}  // namespace

Result<Contract> read_contract(std::string_view schema, std::string_view field) {
  return SchemaReader{}.document(schema, std::string{field});
}

}  // namespace sluice
