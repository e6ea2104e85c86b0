// How far the handlers of one event have come, where it has several. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

/// One handler that has not handled the event yet.
struct HandlerProgress {
  std::string handler_name;
  int attempts = 0;              ///< failed attempts of this handler since the last replay
  Timestamp due{};               ///< not before
  bool out_of_attempts = false;  ///< it will not be tried again before a replay
  std::string last_error;        ///< of its latest failure
  std::string error_class;
  std::string fingerprint;

  bool operator==(const HandlerProgress&) const = default;
};

/// As the stores keep it: an array of objects; empty text for none.
std::string progress_to_json(const std::vector<HandlerProgress>& progress);
/// Members that are missing have their defaults; unknown ones are ignored. Empty text gives none.
Result<std::vector<HandlerProgress>> progress_from_json(std::string_view json);

}  // namespace sluice
