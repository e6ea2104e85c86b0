#include <algorithm>
#include <array>
#include <utility>

#include "config/declare.hpp"
#include "crypto/digest.hpp"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"viewer", "operator", "admin"};
constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestName = 64;

// The audit shows it.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"._@-"}.find(c) != std::string_view::npos;
  });
}

bool is_token(std::string_view text) {
  return text.size() >= kShortestToken &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

std::string digest_of(TableReader& table, const Secret& token, std::string_view key) {
  if (!is_token(token.reveal())) {
    table.refuse(key, "must be at least 16 visible ASCII characters", "make one: openssl rand -hex 24");
  }
  return crypto::to_hex(crypto::sha256(token.reveal()));
}

std::string given_digest(TableReader& table, const std::string& text) {
  const auto bytes = crypto::from_hex(text);
  if (!bytes || bytes->size() != crypto::Sha256{}.size()) {
    table.refuse("token_sha256", "must be 64 hexadecimal digits", "make it: printf %s \"$TOKEN\" | sha256sum");
    return {};
  }
  return crypto::to_hex(*bytes);
}

}  // namespace

Result<Declared<TokenConfig>> declare_token(const FileTable& table, const DeclareContext& context) {
  TableReader reader{table};
  SecretReader secrets{reader, context.environment};
  TokenConfig token;
  token.name = table.name;
  token.where = table.where;
  if (!is_name(table.name)) {
    reader.refuse(invalid(table.path(), table.where + ": " + table.path() +
                                            " is no name for a caller; write letters, digits, '.', '_', '@' and '-'"));
  }
  const auto role = reader.choice("role", kRoles);
  if (role) token.role = kRoles[*role];
  if (!reader.has("role")) reader.refuse("role", "is missing; write role = \"viewer\", \"operator\" or \"admin\"");
  const auto digest = reader.text("token_sha256");
  const auto plain = secrets.one("token", "token_env");
  const bool named = reader.has("token") || reader.has("token_env");
  if (digest && named) reader.refuse("token_sha256", "and the token itself cannot both be there; keep the digest");
  if (digest) token.sha256 = given_digest(reader, *digest);
  if (plain) token.sha256 = digest_of(reader, *plain, reader.has("token") ? "token" : "token_env");
  if (!digest && !named && !reader.has("token_sha256")) {
    reader.refuse("token_sha256", "is missing; write token_sha256, token_env or token",
                  "make a token: openssl rand -hex 24");
  }
  if (auto read = reader.finish(); !read) return std::move(read).error();
  return Declared<TokenConfig>{std::move(token), secrets.missing()};
}

}  // namespace sluice::config
