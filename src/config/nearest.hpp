// "did you mean …?": the closest known word to one that was mistyped.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace sluice::config {

/// The candidate with the fewest single-character edits (swapped neighbours count as one), if it is
/// near enough to be a plausible typo: at most a third of the longer word, and never all of it.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace sluice::config
