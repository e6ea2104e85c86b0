#include <algorithm>
#include <array>
#include <utility>

#include "config/declare.hpp"
#include "config/header_name.hpp"
#include "core/characters.hpp"
#include "core/generation.hpp"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 3> kHookKinds{"standard", "github", "hmac"};
constexpr std::array<std::string_view, 2> kEncodings{"hex", "base64"};
constexpr std::size_t kShortestSecret = 8;

std::string filled_in(std::string text, std::string_view placeholder, std::string_view value) {
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += value.size()) {
    text.replace(at, placeholder.size(), value);
  }
  return text;
}

void check_type(TableReader& reader, const HookConfig& hook) {
  const std::string example = filled_in(filled_in(hook.event_type, "{source}", hook.source), "{event}", "push");
  if (!check_event_type(example)) {
    reader.refuse("event_type", "must make an event type such as `github.push` of {source} and {event}");
  }
}

std::optional<std::string> header(TableReader& reader, std::string_view key) {
  const auto given = reader.text(key);
  if (!given) return std::nullopt;
  if (!is_header_name(*given)) reader.refuse(key, "must be the name of a header");
  return lower_case(*given);
}

void read_secrets(TableReader& reader, SecretReader& secrets, HookConfig& hook) {
  hook.secrets = hook.kind == HookConfig::Kind::standard ? secrets.signing_keys() : secrets.all();
  const bool named = std::any_of(kSecretKeys.begin(), kSecretKeys.end(), [&](auto key) { return reader.has(key); });
  if (!named) reader.refuse("secret_env", "is missing; without a secret anybody could send events");
  const auto is_short = [](const Secret& secret) { return secret.reveal().size() < kShortestSecret; };
  if (std::any_of(hook.secrets.begin(), hook.secrets.end(), is_short)) {
    reader.refuse("secret", "must have at least 8 characters");
  }
}

void read_hmac(TableReader& reader, HookConfig& hook) {
  hook.signature_header = header(reader, "signature_header").value_or("");
  if (!reader.has("signature_header")) {
    reader.refuse("signature_header", "is missing; name the header that carries the signature");
  }
  hook.signature_prefix = reader.text("signature_prefix").value_or("");
  hook.signature_base64 = reader.choice("signature_encoding", kEncodings).value_or(0) == 1;
  hook.id_header = header(reader, "id_header");
  hook.event_header = header(reader, "event_header");
  hook.timestamp_header = header(reader, "timestamp_header");
}

}  // namespace

Result<Declared<HookConfig>> declare_hook(const FileTable& table, const DeclareContext& context) {
  TableReader reader{table};
  SecretReader secrets{reader, context.environment};
  HookConfig hook;
  hook.source = table.name;
  hook.where = table.where;
  if (!check_context(table.name, "source")) {
    return invalid(table.path(), table.where + ": " + table.path() +
                                     " is no source; write lower-case letters, digits and '_', a letter first");
  }
  const auto kind = reader.choice("kind", kHookKinds);
  // Which keys are known depends on it.
  if (reader.failed()) return reader.first_error();
  hook.kind = static_cast<HookConfig::Kind>(kind.value_or(0));
  read_secrets(reader, secrets, hook);
  if (const auto type = reader.text("event_type")) hook.event_type = *type;
  check_type(reader, hook);
  hook.target = reader.text("target");
  if (hook.target && !check_context(*hook.target, "target")) {
    reader.refuse("target", "must be a context: lower-case letters, digits and '_'");
  }
  if (hook.kind != HookConfig::Kind::github) hook.tolerance = reader.duration("tolerance").value_or(hook.tolerance);
  if (hook.kind == HookConfig::Kind::hmac) read_hmac(reader, hook);
  if (auto read = reader.finish(); !read) return std::move(read).error();
  return Declared<HookConfig>{std::move(hook), secrets.missing()};
}

}  // namespace sluice::config
