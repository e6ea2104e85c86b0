// What a payload looks like, as its JSON Schema tells it: the part of <sluice/payload.hpp> that a
// contract is made of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::detail {

struct ShapeProperty;

/// What a schema says about one value.
struct PayloadShape {
  enum class Kind { any, boolean, integer, number, string, array, object };
  // Defined behind ShapeProperty: some compilers make the empty vector of them where it is written.
  PayloadShape(Kind of_kind = Kind::any, std::string of_format = {});

  Kind kind;
  std::string format;  ///< int32, int64, uuid, date-time, or empty
  bool nullable = false;
  std::vector<std::string> names;         ///< the only strings allowed, if there are any
  std::vector<PayloadShape> items;        ///< of an array: exactly one
  std::vector<ShapeProperty> properties;  ///< of an object, in the order of the fields
  std::string description;
};

struct ShapeProperty {
  std::string name;
  PayloadShape shape;
  bool required = true;
};

inline PayloadShape::PayloadShape(Kind of_kind, std::string of_format) : kind(of_kind), format(std::move(of_format)) {}

std::string contract_file_name(std::string_view event_type, int event_version);
std::string render_schema(std::string_view event_type, int event_version, const PayloadShape& shape);

}  // namespace sluice::detail
