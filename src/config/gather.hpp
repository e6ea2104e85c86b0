// Where each setting comes from: flags > environment > file > default, losers kept, so that
// `config explain` can show why a value won.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "config/config_file.hpp"
#include "config/environment.hpp"
#include "config/key_table.hpp"

namespace sluice::config {

/// Everything outside the program that configuration may depend on.
struct Sources {
  std::map<std::string, std::string, std::less<>> flags;  ///< by key name, `worker.batch`
  Environment environment;
  std::optional<std::string> file;  ///< --config: must exist
  std::string hostname;             ///< part of the default actor
  std::string user{};               ///< the name of the process's user id; where USER and LOGNAME do not say
};

enum class Origin { flag, environment, file, standard };
/// `flag`, `environment`, `file`, `default`.
std::string_view name(Origin origin);

struct Candidate {
  Origin origin = Origin::standard;
  std::string where;  ///< `--store`, `DATABASE_URL`, `sluice.toml:3:1`, `default`
  std::string value;
};

struct Setting {
  const Key* key = nullptr;
  std::vector<Candidate> candidates;  ///< never empty, the winner first

  [[nodiscard]] const Candidate& winner() const { return candidates.front(); }
};

struct Settings {
  std::vector<Setting> all;         ///< in the order of the key table
  std::optional<std::string> file;  ///< the file that was read, if any
  std::vector<FileTable> tables;    ///< what it declares by name, not looked at yet
  Environment environment;          ///< for the secrets that the tables name by variable

  /// `key` must be in the table.
  [[nodiscard]] const Setting& of(std::string_view key) const;
};

/// Reads the file, if there is one: --config, SLUICE_CONFIG, ./sluice.toml, then sluice/sluice.toml
/// in the XDG configuration directory. A key that the table does not know is an error with its
/// position and the nearest known key. Values are not parsed yet.
Result<Settings> gather(const Sources& sources);

/// The value as it may be shown: secrets redacted.
std::string shown(const Key& key, std::string_view value);

}  // namespace sluice::config
