#include "ops/when.hpp"

namespace sluice::ops {

std::optional<Timestamp> parse_when(std::string_view text, Timestamp now) {
  if (const auto at = parse_iso8601(text, "time")) return *at;
  const auto ago = parse_duration(text, "time");
  return ago ? std::optional{now - *ago} : std::nullopt;
}

}  // namespace sluice::ops
