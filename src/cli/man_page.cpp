#include "cli/man_page.hpp"

#include <span>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "config/key_table.hpp"

namespace sluice::cli {
namespace {

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
