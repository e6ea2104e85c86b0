#include "runtime/pull_token.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/try.hpp"
#include "crypto/digest.hpp"
#include "runtime/pull_settling.hpp"

namespace sluice::runtime {
namespace {

constexpr std::string_view kVersion = "c3";
constexpr char kSeparator = '~';
constexpr std::size_t kParts = 8;

// A database that was made anew beneath the daemon has another secret: tokens of the old one help nobody.
constexpr std::chrono::minutes kSecretAge{1};
// Whoever sends one bad token after the other does not make the store be asked for each.
constexpr std::chrono::seconds kSecretAgeInDoubt{1};

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc{} && end == text.data() + text.size();
}

std::string signature_of(std::string_view text, std::string_view secret) {
  const crypto::Sha256 digest = crypto::hmac_sha256(secret, text);
  return {digest.begin(), digest.end()};
}

std::optional<PullToken> parse_parts(std::string_view rest) {
  std::array<std::string_view, kParts> parts;
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::size_t end = rest.find(kSeparator);
    if ((end == std::string_view::npos) != (i + 1 == kParts)) return std::nullopt;
    parts[i] = rest.substr(0, end);
    rest.remove_prefix(std::min(end, rest.size() - 1) + (end == std::string_view::npos ? 0 : 1));
  }
  PullToken token;
  const auto id = Uuid::parse(parts[1]);
  if (parts[0] != kVersion || !id) return std::nullopt;
  token.claim.event_id = *id;
  Duration::rep occurred = 0;
  const bool numbers = parse(parts[2], token.claim.claim_seq) && parse(parts[3], token.claim.batch) &&
                       parse(parts[4], token.claim.locator) && parse(parts[5], occurred);
  token.claim.occurred_at = Timestamp{Duration{occurred}};
  // A store asks whether it still knows a batch, unless it is 0, which no claim has.
  if (!numbers || token.claim.batch == 0) return std::nullopt;
  token.handler_name = parts[6];
  token.worker = parts[7];
  if (!PullWorker{token.handler_name, token.worker}.validate()) return std::nullopt;
  return token;
}

}  // namespace

std::string token_text(const PullToken& token, std::string_view secret) {
  std::string text{kVersion};
  for (const std::string& part :
       {token.claim.event_id.to_string(), std::to_string(token.claim.claim_seq), std::to_string(token.claim.batch),
        std::to_string(token.claim.locator), std::to_string(token.claim.occurred_at.time_since_epoch().count()),
        token.handler_name, token.worker}) {
    text.append(1, kSeparator).append(part);
  }
  return crypto::to_base64(signature_of(text, secret) + text);
}

std::optional<PullToken> parse_pull_token(std::string_view text, std::string_view secret) {
  const auto decoded = crypto::from_base64(text);
  constexpr std::size_t kSignature = std::tuple_size_v<crypto::Sha256>;
  if (!decoded || decoded->size() <= kSignature || secret.empty()) return std::nullopt;
  const std::string_view signed_text = std::string_view{*decoded}.substr(kSignature);
  if (!crypto::equal(std::string_view{*decoded}.substr(0, kSignature), signature_of(signed_text, secret))) {
    return std::nullopt;
  }
  return parse_parts(signed_text);
}

Result<std::string> PullTokens::secret_not_older_than(Clock::duration age) {
  {
    const std::lock_guard lock{mutex_};
    if (!secret_.empty() && Clock::now() - read_at_ < age) return secret_;
  }
  auto found = store_.token_secret();
  if (!found) return found;
  const std::lock_guard lock{mutex_};
  secret_ = *found;
  read_at_ = Clock::now();
  return found;
}

Result<std::string> PullTokens::secret() { return secret_not_older_than(kSecretAge); }

Result<std::optional<PullToken>> PullTokens::read(std::string_view text) {
  std::optional<PullToken> token;
  for (const Clock::duration age : {Clock::duration{kSecretAge}, Clock::duration{kSecretAgeInDoubt}}) {
    SLUICE_TRY(const auto found, secret_not_older_than(age));
    token = parse_pull_token(text, found);
    if (token) break;
  }
  return token;
}

}  // namespace sluice::runtime
