// From the tables of the file to what they declare, checked.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "config/declared.hpp"
#include "config/environment.hpp"
#include "config/file_table.hpp"
#include "config/table_reader.hpp"

namespace sluice::config {

/// What the single keys say that the tables build on.
struct DeclareContext {
  const Environment& environment;
  RetryPolicy standard_retry;
  RetryPolicy inbox_retry;
  bool exec_enabled = false;
};

/// The first error has the position of the table or the key.
Result<Declarations> declare(std::span<const FileTable> tables, const DeclareContext& context);

/// Where a table may keep its secrets.
inline constexpr std::array<std::string_view, 4> kSecretKeys{"secret", "secrets", "secret_env", "secret_envs"};

/// Secrets of a table, those of variables among them, and the first variable that is not set.
class SecretReader {
 public:
  SecretReader(TableReader& table, const Environment& environment) : table_(table), environment_(environment) {}

  /// `NAME`, then `NAME_env`: at most one of them.
  std::optional<Secret> one(std::string_view key, std::string_view env_key);
  /// `secret`, `secrets`, `secret_env` and `secret_envs` together, in this order.
  std::vector<Secret> all();
  /// The same, each of them `whsec_` and base64 of 24 to 64 bytes; yields the bytes.
  std::vector<Secret> signing_keys();
  /// A table of names to values, and one of names to variables.
  std::map<std::string, Secret> named(std::string_view key, std::string_view env_key);

  [[nodiscard]] const std::optional<Error>& missing() const { return missing_; }

 private:
  std::optional<Secret> of_variable(std::string_view key, const std::string& name);

  TableReader& table_;
  const Environment& environment_;
  std::optional<Error> missing_;
};

/// A declared thing, and the variable that it lacks.
template <class T>
struct Declared {
  T value;
  std::optional<Error> missing;
};

Result<Declared<TokenConfig>> declare_token(const FileTable& table, const DeclareContext& context);
Result<Declared<HookConfig>> declare_hook(const FileTable& table, const DeclareContext& context);
Result<Declared<SinkConfig>> declare_sink(const FileTable& table, const DeclareContext& context);
Result<Declared<SubscriptionConfig>> declare_subscription(const FileTable& table, const DeclareContext& context);

}  // namespace sluice::config
