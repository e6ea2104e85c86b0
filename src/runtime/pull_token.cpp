#include "runtime/pull_token.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/generation.hpp"
#include "crypto/digest.hpp"

namespace sluice::runtime {
namespace {

constexpr std::string_view kVersion = "c1";
constexpr char kSeparator = '~';
constexpr std::size_t kParts = 7;

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string token_text(const PullToken& token) {
  std::string text{kVersion};
  for (const std::string& part :
       {token.claim.event_id.to_string(), std::to_string(token.claim.claim_seq), std::to_string(token.claim.batch),
        std::to_string(token.claim.locator), token.handler_name, token.worker}) {
    text.append(1, kSeparator).append(part);
  }
  return crypto::to_base64(text);
}

std::optional<PullToken> parse_pull_token(std::string_view text) {
  const auto decoded = crypto::from_base64(text);
  if (!decoded) return std::nullopt;
  std::array<std::string_view, kParts> parts;
  std::string_view rest = *decoded;
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::size_t end = rest.find(kSeparator);
    if ((end == std::string_view::npos) != (i + 1 == kParts)) return std::nullopt;
    parts[i] = rest.substr(0, end);
    rest.remove_prefix(std::min(end, rest.size() - 1) + (end == std::string_view::npos ? 0 : 1));
  }
  PullToken token;
  const auto id = Uuid::parse(parts[1]);
  if (parts[0] != kVersion || !id || !check_handler_name(parts[5])) return std::nullopt;
  token.claim.event_id = *id;
  const bool numbers = parse(parts[2], token.claim.claim_seq) && parse(parts[3], token.claim.batch) &&
                       parse(parts[4], token.claim.locator);
  if (!numbers) return std::nullopt;
  token.handler_name = parts[5];
  token.worker = parts[6];
  return token;
}

}  // namespace sluice::runtime
