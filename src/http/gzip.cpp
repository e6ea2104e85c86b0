#include "http/gzip.hpp"

#include "core/words.hpp"
#include "http_client/gzip.hpp"

namespace sluice::http {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// `q=0`, `q=0.000`: what a client says it does not take.
bool is_refused(std::string_view parameters) {
  const std::string_view weight = trimmed(parameters);
  if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return false;
  return weight.find_first_not_of("0.", 2) == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  std::optional<bool> named;
  bool any = false;
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string_view entry = accept_encoding.substr(0, comma);
    accept_encoding = comma == std::string_view::npos ? std::string_view{} : accept_encoding.substr(comma + 1);
    const std::size_t semicolon = entry.find(';');
    const bool taken = semicolon == std::string_view::npos || !is_refused(entry.substr(semicolon + 1));
    const std::string coding = lower_case(trimmed(entry.substr(0, semicolon)));
    if (coding == "gzip" || coding == "x-gzip") named = taken;
    if (coding == "*") any = taken;
  }
  return named.value_or(any);
}

std::optional<std::string> gzip(std::string_view text) {
  std::string packed = http_client::gzip(text);
  if (packed.size() >= text.size()) return std::nullopt;
  return packed;
}

}  // namespace sluice::http
