// What this binary is.
#pragma once

#include <string_view>

namespace sluice::cli {

inline constexpr std::string_view kVersion = SLUICE_VERSION;
inline constexpr std::string_view kBuildType = SLUICE_BUILD_TYPE;
inline constexpr std::string_view kCompiler = SLUICE_COMPILER;

}  // namespace sluice::cli
