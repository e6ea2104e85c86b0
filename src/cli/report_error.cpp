#include "cli/report_error.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include "core/characters.hpp"
#include "ops/arguments.hpp"

namespace sluice::cli {
namespace {

// What the use cases call the fields of a change; the command line knows them as flags or arguments.
constexpr std::array<std::string_view, 8> kFields{"reason", "rate",  "canary",      "stop_percent",
                                                  "note",   "token", "fingerprint", "cursor"};

std::string in_case(std::string_view field, bool upper) {
  std::string text{field};
  for (char& c : text) {
    if (c == '_') c = '-';
    if (upper && is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string name_in(const Command& command, std::string_view field) {
  for (const Positional& positional : command.positionals) {
    if (positional.name == in_case(field, true)) return std::string{positional.name};
  }
  if (field == "token") return "--plan";
  std::string flag = "--" + in_case(field, false);
  for (const Option& option : command.options) {
    if (option.name == flag) return flag;
  }
  return std::string{field};
}

}  // namespace

Error in_words_of(const Command& command, Error error) {
  if (std::find(kFields.begin(), kFields.end(), error.field) == kFields.end()) return error;
  const std::string name = name_in(command, error.field);
  if (error.message.starts_with(error.field)) error.message.replace(0, error.field.size(), name);
  error.field = name;
  return error;
}

void report_error(std::ostream& err, const Error& error, Format format) {
  if (format != Format::table) {
    err << ops::to_json(error) << '\n';
    return;
  }
  err << "sluice: " << printable(error.message) << '\n';
  if (!error.hint.empty()) err << "  hint: " << printable(error.hint) << '\n';
}

}  // namespace sluice::cli
