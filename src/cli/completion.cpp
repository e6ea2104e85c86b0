#include "cli/completion.hpp"

#include <algorithm>

#include "core/words.hpp"

namespace sluice::cli {
namespace {

Place& place_of(std::vector<Place>& all, const std::string& path) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Place& place) { return place.path == path; });
  return found != all.end() ? *found : all.emplace_back(Place{path, nullptr, {}});
}

void add_word(Place& place, const std::string& word, const std::string& summary) {
  const auto same = [&](const auto& known) { return known.first == word; };
  if (std::none_of(place.words.begin(), place.words.end(), same)) place.words.emplace_back(word, summary);
}

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

// Single quotes, and the colon that separates a word from its description, are escaped.
std::string described(const std::string& word, std::string_view summary) {
  std::string out = "'" + word;
  if (!summary.empty()) out += ':';
  for (const char c : summary) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == ':') {
      out += "\\:";
    } else {
      out += c;
    }
  }
  return out + '\'';
}

std::string zsh_value_cases(const std::string& path, const std::vector<Option>& options) {
  std::string out;
  for (const Option& option : options) {
    if (option.value.empty()) continue;
    std::string pattern = path + ':' + std::string{option.name};
    if (!option.short_name.empty()) pattern += '|' + path + ':' + std::string{option.short_name};
    std::string action = "_message '" + std::string{option.value} + "'";
    if (takes_file(option)) action = "_files";
    if (!option.choices.empty()) action = "compadd -- " + joined(option.choices, " ");
    out.append("    (").append(pattern).append(") ").append(action).append("; return ;;\n");
  }
  return out;
}

std::string zsh_words_case(const Place& place) {
  std::vector<std::string> words;
  for (const auto& [word, summary] : place.words) words.push_back(described(word, summary));
  if (place.command != nullptr) {
    for (const Option& option : own_options(*place.command)) {
      words.push_back(described(std::string{option.name}, option.help));
    }
  }
  return "    ('" + place.path + "') candidates+=(" + joined(words, " ") + ") ;;\n";
}

}  // namespace

std::vector<Place> places() {
  std::vector<Place> all{Place{}};
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    std::string path;
    for (std::size_t depth = 0; depth < command.path.size(); ++depth) {
      const bool leaf = depth + 1 == command.path.size();
      const std::string word{command.path[depth]};
      add_word(place_of(all, path), word, leaf ? std::string{command.summary} : word + " commands");
      path += '/' + word;
      place_of(all, path);
    }
    Place& place = place_of(all, path);
    place.command = &command;
    for (const auto& positional : command.positionals) {
      for (const auto choice : positional.choices) add_word(place, std::string{choice}, "");
    }
  }
  return all;
}

bool takes_file(const Option& option) { return option.value.find("FILE") != std::string_view::npos; }

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

std::string zsh_completion() {
  std::vector<std::string> paths;
  std::string values;
  std::string words;
  for (const Place& place : places()) {
    if (!place.path.empty()) paths.push_back(place.path);
    if (place.command != nullptr) values += zsh_value_cases(place.path, own_options(*place.command));
    words += zsh_words_case(place);
  }
  const std::vector<Option> global{global_options().begin(), global_options().end()};
  std::vector<std::string> global_names;
  global_names.reserve(global.size());
  for (const Option& option : global) global_names.push_back(described(std::string{option.name}, option.help));
  return "#compdef sluice\n"
         "# zsh completion for sluice: save as _sluice in a folder of $fpath, or source <(sluice completion zsh)\n"
         "_sluice() {\n"
         "  local place='' at\n"
         "  local -a candidates\n"
         "  for ((at = 2; at < CURRENT; ++at)); do\n"
         "    case \"$place/${words[at]}\" in\n"
         "      (" +
         joined(paths, "|") +
         ") place+=\"/${words[at]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$place:${words[CURRENT-1]}\" in\n" +
         values + zsh_value_cases("*", global) +
         "  esac\n"
         "  case \"$place\" in\n" +
         words +
         "  esac\n"
         "  candidates+=(" +
         joined(global_names, " ") +
         ")\n"
         "  _describe 'sluice' candidates\n"
         "}\n"
         "if [[ $funcstack[1] == _sluice ]]; then _sluice \"$@\"; else compdef _sluice sluice; fi\n";
}

}  // namespace sluice::cli
