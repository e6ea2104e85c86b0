// A contract: what the payload of one event type and version looks like, as a JSON Schema file says
// it. Only the subset that payload_schema writes is understood; a keyword that would constrain more
// is refused rather than ignored, so that a check never passes on what it did not look at.
#pragma once

#include <string>
#include <string_view>

#include <sluice/payload.hpp>
#include <sluice/result.hpp>

namespace sluice {

using Shape = detail::PayloadShape;
using ShapeKind = detail::PayloadShape::Kind;
using detail::ShapeProperty;

struct Contract {
  std::string event_type;
  int event_version = 1;
  Shape shape;  ///< an object

  /// `platform.scan.completed.v1.json`
  [[nodiscard]] std::string file_name() const { return detail::contract_file_name(event_type, event_version); }
};

/// Draft 7 as payload_schema writes it. `field` names the input in errors.
Result<Contract> read_contract(std::string_view schema, std::string_view field);

/// Whether a build with this contract can read the payload; the error's field is the path, as
/// from_payload reports it.
Result<void> check_payload(const Contract& contract, std::string_view payload);

/// `string (uuid)`, `array of integer (int32)`, `object or null`: the shape in words.
std::string describe(const Shape& shape);

/// `object`, `array`, …; empty for any value.
std::string_view name(ShapeKind kind);

}  // namespace sluice
