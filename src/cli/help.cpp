#include "cli/help.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "cli/command.hpp"
#include "config/key_table.hpp"

namespace sluice::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void append_pairs(std::string& out, const Pairs& pairs) {
  std::size_t longest = 0;
  for (const auto& [left, right] : pairs) longest = std::max(longest, left.size());
  for (const auto& [left, right] : pairs) {
    out.append("  ").append(left).append(longest - left.size() + 2, ' ').append(right).append("\n");
  }
}

void append_examples(std::string& out, const std::vector<Example>& examples) {
  if (examples.empty()) return;
  out += "\nExamples:\n";
  for (const auto& [line, meaning] : examples) {
    out += "  " + std::string{line} + '\n';
    if (!meaning.empty()) out += "      " + std::string{meaning} + '\n';
  }
}

std::string flag_label(const Option& option) {
  std::string label = option.short_name.empty() ? "    " : std::string{option.short_name} + ", ";
  label += option.name;
  if (!option.value.empty()) label += ' ' + std::string{option.value};
  return label;
}

void append_flags(std::string& out, std::string_view title, std::span<const Option> options) {
  if (options.empty()) return;
  out += '\n' + std::string{title} + ":\n";
  Pairs pairs;
  for (const Option& option : options) pairs.emplace_back(flag_label(option), option.help);
  append_pairs(out, pairs);
}

std::string command_help(const Command& command) {
  std::string out = "sluice " + command.title() + ": " + std::string{command.summary} + '\n';
  append_examples(out, command.examples);
  out += "\nUsage:\n  " + usage_line(command) + '\n';
  if (!command.positionals.empty()) {
    out += "\nArguments:\n";
    Pairs pairs;
    for (const auto& positional : command.positionals) pairs.emplace_back(positional.name, positional.help);
    append_pairs(out, pairs);
  }
  append_flags(out, "Flags", own_options(command));
  append_flags(out, "Global flags", global_options());
  return out;
}

bool belongs(const Command& command, const std::vector<std::string>& words) {
  return !command.hidden && command.path.size() >= words.size() &&
         std::equal(words.begin(), words.end(), command.path.begin());
}

void append_commands(std::string& out, const std::vector<std::string>& words) {
  out += "\nCommands:\n";
  Pairs pairs;
  for (const Command& command : commands()) {
    if (belongs(command, words)) pairs.emplace_back("sluice " + command.title(), command.summary);
  }
  append_pairs(out, pairs);
}

std::string group_help(const std::vector<std::string>& words) {
  std::string name = "sluice";
  for (const auto& word : words) name += ' ' + word;
  std::vector<Example> examples;
  for (const Command& command : commands()) {
    if (belongs(command, words) && !command.examples.empty()) examples.push_back(command.examples.front());
  }
  std::string out = name + " COMMAND\n";
  append_examples(out, examples);
  append_commands(out, words);
  out += "\nSee `" + name + " COMMAND --help`.\n";
  return out;
}

std::string overview() {
  std::string out = "sluice: a transactional outbox with delivery, retries and replay\n";
  append_examples(out, {{"sluice serve", "deliver events of the embedded store until stopped"},
                        {"sluice publish demo.hello --data '{\"n\":1}'", "store one event and print its id"},
                        {"sluice event show ID", "what happened to it"},
                        {"sluice status --store postgres://app@db/app", "what waits and what failed, on PostgreSQL"}});
  append_commands(out, {});
  append_flags(out, "Global flags", global_options());
  out +=
      "\nExit codes:\n"
      "  0 ok, 1 failed, 2 usage, 3 not found, 4 forbidden, 5 conflict, 6 findings, 7 partial,\n"
      "  8 timed out, 9 declined, 10 unavailable, 130 interrupted\n"
      "\nSee `sluice COMMAND --help`.\n";
  return out;
}

// Dashes and backslashes are escaped, and a line never starts with a control character.
std::string roff(std::string_view text) {
  std::string out;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void append_options(std::string& out, std::span<const Option> options) {
  for (const Option& option : options) {
    out += ".TP\n\\fB" + roff(option.name) + "\\fR";
    if (!option.short_name.empty()) out += ", \\fB" + roff(option.short_name) + "\\fR";
    if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
    out += '\n' + roff(option.help) + '\n';
  }
}

void append_command(std::string& out, const Command& command) {
  out += ".SS " + roff(usage_line(command)) + '\n' + roff(command.summary) + '\n';
  for (const auto& positional : command.positionals) {
    out += ".TP\n\\fI" + roff(positional.name) + "\\fR\n" + roff(positional.help) + '\n';
  }
  append_options(out, own_options(command));
  if (command.examples.empty()) return;
  out += ".PP\nExamples:\n.PP\n.nf\n";
  for (const auto& example : command.examples) out += "    " + roff(example.line) + '\n';
  out += ".fi\n";
}

void append_settings(std::string& out) {
  out += ".SH CONFIGURATION\nFlags beat the environment, which beats the file, which beats the default.\n";
  for (const config::Key& key : config::keys()) {
    out += ".TP\n\\fB" + roff(key.name) + "\\fR\n" + roff(key.description) + ".\n";
    for (const auto variable : key.environment) out += "Environment: " + roff(variable) + ".\n";
    if (!key.standard.empty()) out += "Default: " + roff(key.standard) + ".\n";
  }
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string out = "sluice " + command.title();
  for (const auto& positional : command.positionals) {
    const std::string name = std::string{positional.name} + (positional.repeated ? "…" : "");
    out += positional.required ? ' ' + name : " [" + name + ']';
  }
  return out + " [flags]";
}

std::string help_text(const std::vector<std::string>& words) {
  if (words.empty()) return overview();
  for (const Command& command : commands()) {
    if (std::equal(words.begin(), words.end(), command.path.begin(), command.path.end())) return command_help(command);
  }
  return group_help(words);
}

std::string man_page(std::string_view version) {
  std::string out = ".TH SLUICE 1 \"\" \"sluice " + roff(version) + "\" \"User Commands\"\n";
  out += ".SH NAME\nsluice \\- a transactional outbox with delivery, retries and replay\n";
  out += ".SH SYNOPSIS\n\\fBsluice\\fR \\fICOMMAND\\fR [\\fIflags\\fR]\n";
  out += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    if (!command.hidden) append_command(out, command);
  }
  out += ".SH GLOBAL FLAGS\n";
  append_options(out, global_options());
  append_settings(out);
  out +=
      ".SH EXIT STATUS\n"
      "0 ok, 1 failed, 2 usage, 3 not found, 4 forbidden, 5 conflict, 6 findings, 7 partial,\n"
      "8 timed out, 9 declined, 10 unavailable, 130 interrupted.\n";
  return out;
}

}  // namespace sluice::cli
