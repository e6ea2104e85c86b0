// The process's variables, as they were handed in: nobody but main reads them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::config {

using Environment = std::map<std::string, std::string, std::less<>>;

/// An empty variable counts as unset, as in most programs.
std::optional<std::string> variable(const Environment& environment, std::string_view name);

}  // namespace sluice::config
