#include "cli/completion.hpp"
#include "cli/completion_words.hpp"
#include "core/words.hpp"

namespace sluice::cli {
namespace {

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

std::string option_line(const std::string& condition, const Option& option) {
  std::string out = "complete -c sluice" + condition + " -l " + std::string{option.name.substr(2)};
  if (!option.short_name.empty()) out += " -s " + std::string{option.short_name.substr(1)};
  if (!option.value.empty()) out += takes_file(option) ? " -r -F" : " -x";
  if (!option.choices.empty()) out += " -a " + fish_quoted(joined(option.choices, " "));
  return out + " -d " + fish_quoted(option.help) + '\n';
}

std::string place_lines(const Place& place) {
  const std::string condition = " -n '__sluice_at sluice" + place.path + "'";
  std::string out;
  for (const auto& [word, summary] : place.words) {
    out += "complete -c sluice" + condition + " -a " + fish_quoted(word);
    out += summary.empty() ? "\n" : " -d " + fish_quoted(summary) + '\n';
  }
  if (place.command == nullptr) return out;
  for (const Option& option : own_options(*place.command)) out += option_line(condition, option);
  return out;
}

}  // namespace

std::string fish_completion() {
  std::vector<std::string> paths;
  std::string lines;
  for (const Place& place : places()) {
    if (!place.path.empty()) paths.push_back("sluice" + place.path);
    lines += place_lines(place);
  }
  for (const Option& option : global_options()) lines += option_line("", option);
  return "# fish completion for sluice: sluice completion fish | source\n"
         "function __sluice_at\n"
         "    set -l place sluice\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        switch \"$place/$word\"\n"
         "            case " +
         joined(paths, " ") +
         "\n"
         "                set place \"$place/$word\"\n"
         "        end\n"
         "    end\n"
         "    test \"$place\" = \"$argv[1]\"\n"
         "end\n"
         "complete -c sluice -f\n" +
         lines;
}

}  // namespace sluice::cli
