#include "cli/numbers.hpp"

#include <charconv>

namespace sluice::cli {

Result<int> number_of(const Arguments& arguments, const NumberFlag& flag) {
  const auto text = arguments.value(flag.name);
  if (!text) return flag.fallback;
  int number = 0;
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem == std::errc{} && stop == text->data() + text->size() && number >= flag.least && number <= flag.most) {
    return number;
  }
  const std::string name{flag.name};
  const bool open = flag.most == std::numeric_limits<int>::max();
  return invalid(name, name + " must be a whole number " +
                           (open ? "of at least " + std::to_string(flag.least)
                                 : "from " + std::to_string(flag.least) + " to " + std::to_string(flag.most)));
}

}  // namespace sluice::cli
