#include <utility>

#include "config/declare.hpp"
#include "crypto/digest.hpp"

namespace sluice::config {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kShortestKey = 24;
constexpr std::size_t kLongestKey = 64;

std::optional<Secret> decoded(const Secret& secret) {
  std::string_view text = secret.reveal();
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  auto bytes = crypto::from_base64(text);
  if (!bytes || bytes->size() < kShortestKey || bytes->size() > kLongestKey) return std::nullopt;
  return Secret{*std::move(bytes)};
}

}  // namespace

std::optional<Secret> SecretReader::of_variable(std::string_view key, const std::string& name) {
  if (auto found = variable(environment_, name)) return Secret{*std::move(found)};
  if (!missing_) {
    missing_ = invalid(table_.name_of(key), table_.where_of(key) + ": " + table_.name_of(key) +
                                                " names the environment variable " + name +
                                                ", which is not set; set it and start again");
  }
  return std::nullopt;
}

std::optional<Secret> SecretReader::one(std::string_view key, std::string_view env_key) {
  const auto given = table_.text(key);
  const auto name = table_.text(env_key);
  if (given && name) table_.refuse(env_key, "and " + std::string{key} + " cannot both be there; take one of them away");
  if (given) return Secret{*given};
  return name ? of_variable(env_key, *name) : std::nullopt;
}

std::vector<Secret> SecretReader::all() {
  std::vector<Secret> secrets;
  for (const std::string_view key : {"secret", "secrets"}) {
    for (std::string& text : table_.texts(key)) secrets.emplace_back(std::move(text));
  }
  for (const std::string_view key : {"secret_env", "secret_envs"}) {
    for (const std::string& name : table_.texts(key)) {
      if (auto secret = of_variable(key, name)) secrets.push_back(*std::move(secret));
    }
  }
  return secrets;
}

std::vector<Secret> SecretReader::signing_keys() {
  std::vector<Secret> keys;
  for (const Secret& secret : all()) {
    if (auto key = decoded(secret)) {
      keys.push_back(*std::move(key));
      continue;
    }
    // The value is not repeated: it is nearly a secret.
    table_.refuse(table_.has("secret")    ? "secret"
                  : table_.has("secrets") ? "secrets"
                                          : "secret_env",
                  "must be whsec_ followed by base64 of 24 to 64 bytes",
                  "make one: printf 'whsec_%s\\n' \"$(openssl rand -base64 32)\"");
  }
  return keys;
}

std::map<std::string, Secret> SecretReader::named(std::string_view key, std::string_view env_key) {
  std::map<std::string, Secret> all;
  for (const std::string_view from : {key, env_key}) {
    const FileValue* table = table_.value(from);
    if (table == nullptr) continue;
    if (table->kind != FileValue::Kind::table) table_.refuse(from, "must be a table: { Name = \"value\" }");
    for (const FileMember& member : table->members) {
      if (member.value.kind != FileValue::Kind::text) table_.refuse(from, "must have strings as values");
      const auto secret = from == key ? std::optional{Secret{member.value.text}} : of_variable(from, member.value.text);
      const bool fresh = !secret || all.emplace(member.key, *secret).second;
      if (!fresh) table_.refuse(from, "names " + member.key + " a second time; take one of them away");
    }
  }
  return all;
}

}  // namespace sluice::config
