#include "core/contract.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/try.hpp"

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
    SLUICE_TRY(const auto keywords, open(schema, where));
    Contract contract;
    SLUICE_CHECK(header(keywords, where, contract));
    SLUICE_TRY(auto shape, read_shape(keywords, where));
    contract.shape = std::move(shape);
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
    SLUICE_TRY(auto members, json::members(schema, where));
    Keywords keywords;
    for (auto& member : members) {
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
    SLUICE_TRY(auto event_type, text(keywords, "x-event-type", where));
    if (!check_event_type(event_type)) return refuse(where, "must name its event type in \"x-event-type\"");
    into.event_type = std::move(event_type);
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
    SLUICE_CHECK(read_type(keywords, where, shape));
    for (const auto& [keyword, into] :
         {std::pair{"format", &shape.format}, std::pair{"description", &shape.description}}) {
      SLUICE_TRY(*into, text(keywords, keyword, where));
    }
    SLUICE_CHECK(read_names(keywords, where, shape));
    SLUICE_CHECK(read_items(keywords, where, shape));
    SLUICE_CHECK(read_properties(keywords, where, shape));
    return shape;
  }

  static Result<void> read_type(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("type");
    if (found == keywords.end()) return {};
    std::vector<std::string_view> types{found->second};
    if (found->second.starts_with('[')) {
      SLUICE_TRY(types, json::elements(found->second, where));
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
    SLUICE_TRY(auto values, json::elements(found->second, where + " enum"));
    if (into.kind != ShapeKind::string) return refuse(where, "must have the type string beside \"enum\"");
    for (const std::string_view value : values) {
      if (value == "null") continue;
      SLUICE_TRY(auto one, json::string_value(value, where + " enum"));
      into.names.push_back(std::move(one));
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
    SLUICE_TRY(auto item, nested(found->second, where + " items"));
    into.items.push_back(std::move(item));
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
      SLUICE_TRY(const auto members, json::members(found->second, where + " properties"));
      for (const auto& member : members) {
        SLUICE_TRY(auto shape, nested(member.value, where + " properties." + member.name));
        into.properties.push_back({member.name, std::move(shape), false});
      }
    }
    return read_required(keywords, where, into);
  }

  static Result<void> read_required(const Keywords& keywords, const std::string& where, Shape& into) {
    const auto found = keywords.find("required");
    if (found == keywords.end()) return {};
    SLUICE_TRY(const auto names, json::elements(found->second, where + " required"));
    for (const std::string_view raw : names) {
      SLUICE_TRY(const auto wanted, json::string_value(raw, where + " required"));
      const auto property = std::find_if(into.properties.begin(), into.properties.end(),
                                         [&](const ShapeProperty& one) { return one.name == wanted; });
      if (property == into.properties.end()) {
        return refuse(where, "requires " + json::quote(wanted) + ", which is not among its properties");
      }
      property->required = true;
    }
    return {};
  }

  // The text's own depth limit bounds this recursion.
  Result<Shape> nested(std::string_view schema, const std::string& where) {
    SLUICE_TRY(const auto keywords, open(schema, where));
    return read_shape(keywords, where);
  }
};

}  // namespace

Result<Contract> read_contract(std::string_view schema, std::string_view field) {
  return SchemaReader{}.document(schema, std::string{field});
}

namespace {

using detail::PayloadPath;

// The readers of typed payloads do the looking, so that both refuse the same texts in the same words.
class PayloadValidator {
 public:
  static Result<void> value(const Shape& shape, std::string_view json, const PayloadPath& path) {
    if (shape.nullable && json == "null") return {};
    switch (shape.kind) {
      case ShapeKind::any:
        return {};
      case ShapeKind::boolean:
        return scalar<bool>(json, path);
      case ShapeKind::integer:
        return integer(shape, json, path);
      case ShapeKind::number:
        return scalar<double>(json, path);
      case ShapeKind::string:
        return string(shape, json, path);
      case ShapeKind::array:
        return array(shape.items.front(), json, path);
      case ShapeKind::object:
        return object(shape, json, path);
    }
    return {};
  }

 private:
  template <class T>
  static Result<void> scalar(std::string_view json, const PayloadPath& path) {
    T ignored{};
    return detail::Codec<T>::read(json, path, ignored);
  }

  static Result<void> integer(const Shape& shape, std::string_view json, const PayloadPath& path) {
    return shape.format == "int32" ? scalar<std::int32_t>(json, path) : scalar<std::int64_t>(json, path);
  }

  static Result<void> string(const Shape& shape, std::string_view json, const PayloadPath& path) {
    if (!shape.names.empty()) {
      const auto which = detail::payload_choice(json, path, {shape.names.begin(), shape.names.end()});
      return which ? Result<void>{} : which.error();
    }
    if (shape.format == "uuid") return scalar<Uuid>(json, path);
    if (shape.format == "date-time") return scalar<Timestamp>(json, path);
    return scalar<std::string>(json, path);
  }

  static Result<void> array(const Shape& item, std::string_view json, const PayloadPath& path) {
    SLUICE_TRY(const auto elements, detail::payload_array(json, path));
    for (std::size_t at = 0; at < elements.size(); ++at) {
      auto outcome = value(item, (elements)[at], PayloadPath{&path, {}, at});
      if (!outcome) return outcome;
    }
    return {};
  }

  static Result<void> object(const Shape& shape, std::string_view json, const PayloadPath& path) {
    SLUICE_TRY(const auto members, detail::payload_object(json, path));
    for (const ShapeProperty& property : shape.properties) {
      const PayloadPath here{&path, property.name};
      const auto found = std::find_if(members.begin(), members.end(),
                                      [&](const detail::PayloadMember& one) { return one.name == property.name; });
      if (found == members.end()) {
        if (property.required) return detail::payload_missing(here, expected(property.shape));
        continue;
      }
      auto outcome = value(property.shape, found->json, here);
      if (!outcome) return outcome;
    }
    return {};
  }

  static std::string expected(const Shape& shape) {
    switch (shape.kind) {
      case ShapeKind::any:
        return detail::Codec<RawJson>::expected();
      case ShapeKind::boolean:
        return detail::Codec<bool>::expected();
      case ShapeKind::integer:
        return detail::Codec<std::int64_t>::expected();
      case ShapeKind::number:
        return detail::Codec<double>::expected();
      case ShapeKind::array:
        return "an array";
      case ShapeKind::object:
        return "an object";
      case ShapeKind::string:
        break;
    }
    if (!shape.names.empty()) return detail::one_of({shape.names.begin(), shape.names.end()});
    if (shape.format == "uuid") return detail::Codec<Uuid>::expected();
    if (shape.format == "date-time") return detail::Codec<Timestamp>::expected();
    return detail::Codec<std::string>::expected();
  }
};

}  // namespace

Result<void> check_payload(const Contract& contract, std::string_view payload) {
  SLUICE_CHECK(detail::check_payload_text(payload));
  return PayloadValidator::value(contract.shape, payload, PayloadPath{nullptr, "payload"});
}

}  // namespace sluice
