#include "cli/command.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice::cli {

Exit exit_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid:
      return Exit::usage;
    case ErrorCode::not_found:
      return Exit::not_found;
    case ErrorCode::forbidden:
      return Exit::forbidden;
    case ErrorCode::conflict:
      return Exit::conflict;
    case ErrorCode::unavailable:
      return Exit::unavailable;
    case ErrorCode::timeout:
      return Exit::timed_out;
    case ErrorCode::schema:
    case ErrorCode::exhausted:
    case ErrorCode::read_only:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return Exit::failed;
  }
  return Exit::failed;
}

std::string Command::title() const {
  std::string out;
  for (const std::string_view word : path) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

std::span<const Command> commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all;
    for (const auto& noun :
         {serve_commands,  publish_commands,      tail_commands,       event_commands,        dlq_commands,
          filter_commands, op_commands,           generation_commands, subscription_commands, worker_commands,
          sink_commands,   status_commands,       doctor_commands,     check_commands,        retention_commands,
          ladder_commands, ladder_relay_commands, move_commands,       alert_commands,        contract_commands,
          audit_commands,  mcp_commands,          db_commands,         config_commands,       completion_commands,
          version_commands}) {
      for (Command& command : noun()) all.push_back(std::move(command));
    }
    return all;
  }();
  return table;
}

std::span<const Option> global_options() {
  static const std::vector<Option> options{
      {"--store", "", "URL", "sqlite:PATH or postgres://USER@HOST/DATABASE", {}, "store"},
      {"--generation", "", "N", "deployment generation; default: the newest live one, else 1", {}, "generation"},
      {"--config", "", "FILE", "configuration file; default: ./sluice.toml, then the XDG one"},
      {"--output", "-o", "FORMAT", "table, json or ndjson", {"table", "json", "ndjson"}},
      {"--quiet", "-q", "", "print no notes on stderr"},
      {"--verbose", "-v", "", "say on stderr what is used and done"},
      {"--yes", "", "", "answer yes to every question"},
      {"--no-input", "", "", "never ask and never read from the terminal"},
      {"--help", "-h", "", "show this help"},
  };
  return options;
}

std::vector<Option> own_options(const Command& command) {
  std::vector<Option> options = command.options;
  if (command.mutating) options.push_back({"--dry-run", "", "", "say what would change, and change nothing"});
  return options;
}

std::vector<Option> all_options(const Command& command) {
  std::vector<Option> options = own_options(command);
  const auto global = global_options();
  options.insert(options.end(), global.begin(), global.end());
  return options;
}

std::vector<std::string_view> next_words(const std::vector<std::string>& words) {
  std::vector<std::string_view> next;
  for (const Command& command : commands()) {
    if (command.hidden || command.path.size() <= words.size()) continue;
    const bool follows = std::equal(words.begin(), words.end(), command.path.begin());
    const std::string_view word = command.path[words.size()];
    if (follows && std::find(next.begin(), next.end(), word) == next.end()) next.push_back(word);
  }
  return next;
}

}  // namespace sluice::cli
