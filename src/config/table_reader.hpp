// Reads one declared table member by member. The first thing that is wrong is remembered, with its position; a member
// that nobody asked for is an unknown key.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "config/config_file.hpp"
#include "config/declared.hpp"
#include "config/environment.hpp"

namespace sluice::config {

template <class Number>
struct Bounds {
  Number least;
  Number most;
};

class TableReader {
 public:
  explicit TableReader(const FileTable& table) : TableReader(table.path(), table.where, table.members) {}
  /// A table inside a table: `subscriptions."a.b".retry`.
  TableReader(std::string path, std::string where, const std::vector<FileMember>& members)
      : path_(std::move(path)), where_(std::move(where)), members_(members) {}

  std::optional<std::string> text(std::string_view key);
  /// A list of strings, or one string.
  std::vector<std::string> texts(std::string_view key);
  std::optional<Duration> duration(std::string_view key);  ///< above zero
  std::optional<bool> flag(std::string_view key);
  std::optional<int> integer(std::string_view key, Bounds<int> bounds);
  std::vector<int> integers(std::string_view key, Bounds<int> bounds);
  std::optional<double> number(std::string_view key, Bounds<double> bounds);
  /// The words in `choices` are what may stand there; the index of the one that does.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string_view> choices);
  /// The value whatever it is.
  const FileValue* value(std::string_view key);

  /// `message` continues the sentence that begins with the key: `must be …`.
  void refuse(std::string_view key, const std::string& message, std::string hint = {});
  void refuse(Error error);
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const Error& first_error() const { return *error_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string name_of(std::string_view key) const { return path_ + '.' + std::string{key}; }
  /// Where the key stands; where the table stands when it is not there.
  [[nodiscard]] const std::string& where_of(std::string_view key) const;

  /// The first error; a key that was never asked for comes before all others, because it explains them.
  [[nodiscard]] Result<void> finish() const;

 private:
  [[nodiscard]] const FileMember* find(std::string_view key) const;
  const FileMember* ask(std::string_view key);

  std::string path_;
  std::string where_;
  const std::vector<FileMember>& members_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

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

}  // namespace sluice::config
