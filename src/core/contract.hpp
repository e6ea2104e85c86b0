// A contract: what the payload of one event type and version looks like, as a JSON Schema file says
// it. Only the subset that payload_schema writes is understood; a keyword that would constrain more
// is refused rather than ignored, so that a check never passes on what it did not look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// What a change of a contract does to those who read the events. Fields are only ever added, and only
// optional ones; whatever else changes, somebody out there stops understanding an event.

enum class FindingSeverity {
  breaking,  ///< refused
  outdated,  ///< fine, but the snapshots do not know it yet
  note,      ///< allowed, and worth knowing
};
/// "breaking", "outdated", "note".
std::string_view name(FindingSeverity severity);

struct ContractFinding {
  FindingSeverity severity = FindingSeverity::breaking;
  std::string event_type;
  int event_version = 1;
  std::string path;     ///< `payload.items[].price`; `event_version` or `event_type` where it is no field
  std::string message;  ///< one sentence, without a final full stop
  std::string remedy;   ///< what to do instead
};

/// What a breaking change must be instead: `decision.recorded.v2` for `decision.recorded`, the next
/// suffix where there is one already.
std::string successor_type(std::string_view event_type);

/// The new contract of an event type against the one that was kept. Removing a field, changing its
/// type, format or whether it may be absent or null, adding a required one, dropping an enum value,
/// and lowering the version are breaking. A shape that changed needs a higher version.
std::vector<ContractFinding> compare(const Contract& kept, const Contract& current);

/// Whether everything that the producer may publish can be read by the consumer.
std::vector<ContractFinding> cross_check(const Contract& producer, const Contract& consumer);

bool has_breaking(const std::vector<ContractFinding>& findings);

}  // namespace sluice
