#include "cli/completion.hpp"
#include "cli/completion_words.hpp"
#include "core/words.hpp"

namespace sluice::cli {
namespace {

std::string reply(const std::string& words) { return "COMPREPLY=($(compgen -W '" + words + "' -- \"$cur\"))"; }

// What may follow a flag that takes a value.
std::string bash_value_cases(const std::string& path, const std::vector<Option>& options) {
  std::string out;
  for (const Option& option : options) {
    if (option.value.empty()) continue;
    std::string pattern = path + ':' + std::string{option.name};
    if (!option.short_name.empty()) pattern += " | " + path + ':' + std::string{option.short_name};
    std::string action = "COMPREPLY=()";
    if (takes_file(option)) action = "COMPREPLY=($(compgen -f -- \"$cur\"))";
    if (!option.choices.empty()) action = reply(joined(option.choices, " "));
    out.append("    ").append(pattern).append(") ").append(action).append("; return ;;\n");
  }
  return out;
}

std::string bash_words_case(const Place& place) {
  std::vector<std::string> words;
  for (const auto& [word, summary] : place.words) words.push_back(word);
  if (place.command != nullptr) {
    for (const Option& option : own_options(*place.command)) words.emplace_back(option.name);
  }
  return "    '" + place.path + "') words='" + joined(words, " ") + "' ;;\n";
}

}  // namespace

std::string bash_completion() {
  std::vector<std::string> paths;
  std::string values;
  std::string words;
  for (const Place& place : places()) {
    if (!place.path.empty()) paths.push_back(place.path);
    if (place.command != nullptr) values += bash_value_cases(place.path, own_options(*place.command));
    words += bash_words_case(place);
  }
  const std::vector<Option> global{global_options().begin(), global_options().end()};
  std::vector<std::string> global_names;
  global_names.reserve(global.size());
  for (const Option& option : global) global_names.emplace_back(option.name);
  return "# bash completion for sluice: source <(sluice completion bash)\n"
         "# shellcheck shell=bash disable=SC2207\n"
         "_sluice() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' words='' at\n"
         "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
         "    case \"$path/${COMP_WORDS[at]}\" in\n"
         "      " +
         joined(paths, " | ") +
         ") path+=\"/${COMP_WORDS[at]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$path:$prev\" in\n" +
         values + bash_value_cases("*", global) +
         "  esac\n"
         "  case \"$path\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words " +
         joined(global_names, " ") +
         "\" -- \"$cur\"))\n"
         "}\n"
         "complete -F _sluice sluice\n";
}

}  // namespace sluice::cli
