#include "http/gzip.hpp"

#include "core/words.hpp"
#include "http_client/gzip.hpp"

namespace sluice::http {
namespace {

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
  for (const std::string_view entry : split(accept_encoding, ',')) {
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
