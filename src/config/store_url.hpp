// Which store: the one text form that flags, environment and file share.
#pragma once

#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice::config {

struct StoreUrl {
  enum class Kind { sqlite, postgres };
  Kind kind = Kind::sqlite;
  std::string location;  ///< sqlite: the path; postgres: the whole URL, password included

  /// For people: `sqlite:PATH`, or the URL without its password.
  [[nodiscard]] std::string display() const;
};

/// Accepts `sqlite:PATH`, `postgres://…` and `postgresql://…`. `origin` says where the text came
/// from (`--store`, `SLUICE_STORE`, `sluice.toml:1:9`) and is named in the error, which never
/// repeats a password.
Result<StoreUrl> parse_store_url(std::string_view text, std::string_view origin);

}  // namespace sluice::config
