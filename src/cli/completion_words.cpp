#include "cli/completion_words.hpp"

#include <algorithm>

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

}  // namespace sluice::cli
