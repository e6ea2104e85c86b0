// From words to a command with its arguments. Knows only the table.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "cli/command.hpp"

namespace sluice::cli {

class Arguments {
 public:
  const Command* command = nullptr;
  std::vector<std::string> positionals;
  std::map<std::string, std::string, std::less<>> values;  ///< by long name, `--data`
  std::set<std::string, std::less<>> switches;             ///< by long name, `--dry-run`

  [[nodiscard]] bool has(std::string_view name) const { return switches.contains(name); }
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> positional(std::size_t at) const;
};

struct HelpRequest {
  std::vector<std::string> words;  ///< the command or group that was asked about; empty: everything
  bool asked = true;               ///< false: shown because the command is incomplete
};

struct Parsed {
  std::optional<HelpRequest> help;  ///< set: show help instead of running
  Arguments arguments;
};

/// `--flag value`, `--flag=value`, `-o json`, `-ojson`, and `--` before what is no flag. An error
/// names the flag or command and suggests the nearest one.
Result<Parsed> parse(const std::vector<std::string>& words);

}  // namespace sluice::cli
