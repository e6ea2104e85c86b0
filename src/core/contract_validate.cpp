#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/contract.hpp"

namespace sluice {
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
    const auto elements = detail::payload_array(json, path);
    if (!elements) return elements.error();
    for (std::size_t at = 0; at < elements->size(); ++at) {
      auto outcome = value(item, (*elements)[at], PayloadPath{&path, {}, at});
      if (!outcome) return outcome;
    }
    return {};
  }

  static Result<void> object(const Shape& shape, std::string_view json, const PayloadPath& path) {
    const auto members = detail::payload_object(json, path);
    if (!members) return members.error();
    for (const ShapeProperty& property : shape.properties) {
      const PayloadPath here{&path, property.name};
      const auto found = std::find_if(members->begin(), members->end(),
                                      [&](const detail::PayloadMember& one) { return one.name == property.name; });
      if (found == members->end()) {
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
  if (auto checked = detail::check_payload_text(payload); !checked) return checked;
  return PayloadValidator::value(contract.shape, payload, PayloadPath{nullptr, "payload"});
}

}  // namespace sluice
