// The command table: parsing, help, completion and the man page are all made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::cli {

class Session;

/// The exit codes of every command: part of the interface, scripts depend on them.
enum class Exit {
  ok = 0,
  failed = 1,
  usage = 2,
  not_found = 3,
  forbidden = 4,
  conflict = 5,  ///< the state changed since it was read
  findings = 6,
  partial = 7,
  timed_out = 8,
  declined = 9,
  unavailable = 10,
  interrupted = 130,
};

/// The one place where an error becomes an exit code.
Exit exit_of(const Error& error);

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

// One function per noun: the rows that its file adds to the command table.

std::vector<Command> serve_commands();
std::vector<Command> publish_commands();
std::vector<Command> event_commands();
std::vector<Command> event_change_commands();
std::vector<Command> tail_commands();
std::vector<Command> dlq_commands();
std::vector<Command> dlq_change_commands();
std::vector<Command> filter_commands();
std::vector<Command> op_commands();
std::vector<Command> audit_commands();
std::vector<Command> generation_commands();
std::vector<Command> subscription_commands();
std::vector<Command> worker_commands();
std::vector<Command> sink_commands();
std::vector<Command> status_commands();
std::vector<Command> doctor_commands();
std::vector<Command> check_commands();
std::vector<Command> ladder_commands();
std::vector<Command> move_commands();
std::vector<Command> retention_commands();
std::vector<Command> ladder_commands();
std::vector<Command> alert_commands();
std::vector<Command> contract_commands();
std::vector<Command> mcp_commands();
std::vector<Command> db_commands();
std::vector<Command> ladder_relay_commands();
std::vector<Command> config_commands();
std::vector<Command> completion_commands();
std::vector<Command> version_commands();

/// The story of the event that the first argument names: `event show` and `dlq show`.
Result<Exit> show_event_command(Session& session);

// Commands that stand apart; the noun's function puts them in their place.
Command generation_retire_command();
Command generation_reroute_command();
Command db_doorbell_command();
Command db_index_command();
Command dlq_ack_command();
std::vector<Command> dlq_group_commands();
Command dlq_export_command();

}  // namespace sluice::cli
