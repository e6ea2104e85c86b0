#include "cli/numbers.hpp"

#include <charconv>

namespace sluice::cli {

namespace {

std::string range_text(const NumberFlag& flag) {
  if (flag.least == std::numeric_limits<int>::min()) return "";
  if (flag.most == std::numeric_limits<int>::max()) return " of at least " + std::to_string(flag.least);
  return " from " + std::to_string(flag.least) + " to " + std::to_string(flag.most);
}

}  // namespace

Result<int> number_of(const Arguments& arguments, const NumberFlag& flag) {
  const auto text = arguments.value(flag.name);
  if (!text) return flag.fallback;
  int number = 0;
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem == std::errc{} && stop == text->data() + text->size() && number >= flag.least && number <= flag.most) {
    return number;
  }
  const std::string name{flag.name};
  return invalid(name, name + " must be a whole number" + range_text(flag));
}

}  // namespace sluice::cli
