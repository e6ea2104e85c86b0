#include "cli/completion.hpp"
#include "cli/completion_words.hpp"
#include "core/words.hpp"

namespace sluice::cli {
namespace {

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
