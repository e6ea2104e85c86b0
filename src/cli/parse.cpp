#include "cli/parse.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::cli {
namespace {

std::string in_backticks(std::string_view text) { return '`' + std::string{text} + '`'; }

std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates) {
  const auto near = nearest(word, candidates);
  return near ? "; did you mean " + std::string{*near} + "?" : "";
}

Error usage(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(field), std::move(message));
  error.hint = std::move(hint);
  return error;
}

bool is_flag(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  Result<Parsed> run() {
    options_.assign(global_options().begin(), global_options().end());
    for (; at_ < words_.size(); ++at_) {
      SLUICE_CHECK(take(words_[at_]));
    }
    return finish();
  }

 private:
  Result<void> take(const std::string& word) {
    if (!only_positionals_ && word == "--") {
      only_positionals_ = true;
      return {};
    }
    if (!only_positionals_ && is_flag(word)) return take_flag(word);
    if (command() == nullptr) return take_path_word(word);
    result_.arguments.positionals.push_back(word);
    return {};
  }

  Result<void> take_path_word(const std::string& word) {
    if (path_.empty() && word == "help") {
      help_ = true;
      return {};
    }
    std::vector<std::string> longer = path_;
    longer.push_back(word);
    for (const Command& candidate : commands()) {
      if (candidate.path.size() < longer.size()) continue;
      if (!std::equal(longer.begin(), longer.end(), candidate.path.begin())) continue;
      path_ = std::move(longer);
      if (candidate.path.size() == path_.size()) {
        result_.arguments.command = &candidate;
        options_ = all_options(candidate);
      }
      return {};
    }
    const std::string hint =
        "`sluice " + joined(path_, " ") + (path_.empty() ? "" : " ") + "--help` lists the commands";
    return usage(
        "command",
        "unknown command " + in_backticks("sluice " + joined(longer, " ")) + suggestion(word, next_words(path_)), hint);
  }

  Result<void> take_flag(const std::string& word) {
    const bool is_long = word.starts_with("--");
    const std::size_t equals = word.find('=');
    const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
    const Option* option = find(name);
    if (option == nullptr) return unknown(is_long ? name : word);
    std::optional<std::string> attached;
    if (is_long && equals != std::string::npos) attached = word.substr(equals + 1);
    if (!is_long && word.size() > 2) attached = word.substr(word[2] == '=' ? 3 : 2);
    return option->value.empty() ? set_switch(*option, attached) : set_value(*option, std::move(attached));
  }

  Result<void> set_switch(const Option& option, const std::optional<std::string>& attached) {
    if (attached) return usage(std::string{option.name}, std::string{option.name} + " takes no value", "");
    if (option.name == "--help") help_ = true;
    result_.arguments.switches.emplace(option.name);
    return {};
  }

  Result<void> set_value(const Option& option, std::optional<std::string> attached) {
    const std::string name{option.name};
    if (!attached) {
      // A value that starts with two dashes must be attached, so that a forgotten one is noticed.
      const bool missing = at_ + 1 >= words_.size() || (words_[at_ + 1].starts_with("--"));
      if (missing) {
        return usage(name, name + " needs a value: " + name + ' ' + std::string{option.value}, see_help());
      }
      attached = words_[++at_];
    }
    const auto& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), *attached) == choices.end()) {
      return usage(name, name + " must be one of " + joined(choices, ", ") + ", not " + in_backticks(*attached), "");
    }
    if (!result_.arguments.values.emplace(name, *std::move(attached)).second) {
      return usage(name, name + " is given twice", "");
    }
    return {};
  }

  Result<void> unknown(const std::string& name) {
    std::vector<std::string_view> known;
    for (const Option& option : options_) known.push_back(option.name);
    const std::string where = path_.empty() ? "" : " for " + in_backticks("sluice " + joined(path_, " "));
    return usage(name, "unknown flag " + name + where + suggestion(name, known), see_help());
  }

  Result<Parsed> finish() {
    if (help_ || command() == nullptr) {
      result_.help = HelpRequest{path_, help_};
      return std::move(result_);
    }
    const auto& expected = command()->positionals;
    const auto& given = result_.arguments.positionals;
    const bool open_ended = !expected.empty() && expected.back().repeated;
    if (given.size() > expected.size() && !open_ended) {
      return usage("arguments", in_backticks(title()) + " takes no argument " + in_backticks(given[expected.size()]),
                   see_help());
    }
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (at >= given.size()) {
        if (!expected[at].required) break;
        const std::string name{expected[at].name};
        return usage(name, in_backticks(title()) + " needs " + name + ": " + std::string{expected[at].help},
                     see_help());
      }
      const auto& choices = expected[at].choices;
      if (!choices.empty() && std::find(choices.begin(), choices.end(), given[at]) == choices.end()) {
        const std::string meant = suggestion(given[at], choices);
        return usage(std::string{expected[at].name},
                     "unknown " + std::string{expected[at].name} + ' ' + in_backticks(given[at]) +
                         (meant.empty() ? "; give " + std::string{expected[at].help} : meant),
                     see_help());
      }
    }
    return std::move(result_);
  }

  const Option* find(std::string_view name) const {
    for (const Option& option : options_) {
      if (option.name == name || (!option.short_name.empty() && option.short_name == name)) return &option;
    }
    return nullptr;
  }

  [[nodiscard]] const Command* command() const { return result_.arguments.command; }
  [[nodiscard]] std::string title() const { return "sluice " + joined(path_, " "); }
  [[nodiscard]] std::string see_help() const {
    return in_backticks(title() + (path_.empty() ? "" : " ") + "--help") + " shows how it is used";
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  std::vector<Option> options_;
  std::vector<std::string> path_;
  bool only_positionals_ = false;
  bool help_ = false;
  Parsed result_;
};

}  // namespace

std::optional<std::string> Arguments::value(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional{found->second};
}

std::optional<std::string> Arguments::positional(std::size_t at) const {
  return at < positionals.size() ? std::optional{positionals[at]} : std::nullopt;
}

Result<Parsed> parse(const std::vector<std::string>& words) { return Parser{words}.run(); }

}  // namespace sluice::cli
