// The command table: parsing, help, completion and the man page are all made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "cli/exit_code.hpp"

namespace sluice::cli {

class Session;

struct Option {
  std::string_view name;        ///< `--data`
  std::string_view short_name;  ///< `-o`, or empty
  std::string_view value;       ///< what it takes, `JSON|@FILE|-`; empty: a switch
  std::string_view help;
  std::vector<std::string_view> choices{};  ///< the only values allowed, if there are any
  std::string_view config_key{};            ///< the configuration key that this flag sets, if it does
};

struct Positional {
  std::string_view name;  ///< `TYPE`
  std::string_view help;
  bool required = true;
  std::vector<std::string_view> choices{};
  bool repeated = false;  ///< any number of them; the last positional only
};

struct Example {
  std::string_view line;
  std::string_view meaning;
};

struct Command {
  std::vector<std::string_view> path;  ///< `db`, `migrate`
  std::string_view summary;
  std::vector<Example> examples;
  std::vector<Positional> positionals;
  std::vector<Option> options;
  bool mutating = false;  ///< takes --dry-run
  bool hidden = false;
  Result<Exit> (*run)(Session& session) = nullptr;

  /// `db migrate`
  [[nodiscard]] std::string title() const;
};

/// Every command, in the order of the help.
std::span<const Command> commands();
/// Flags that every command takes.
std::span<const Option> global_options();
/// The command's own flags, with --dry-run where it changes something.
std::vector<Option> own_options(const Command& command);
/// own_options, then global_options.
std::vector<Option> all_options(const Command& command);

/// The words that may follow the given ones: `db` yields migrate, version, … Hidden ones are left out.
std::vector<std::string_view> next_words(const std::vector<std::string>& words);

}  // namespace sluice::cli
