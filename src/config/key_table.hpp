// The one table of configuration keys. Loading, `config show`, `config explain` and the reference
// page all read it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace sluice::config {

/// A value and where it stands, for the error that names it.
struct Given {
  std::string_view text;
  std::string_view where;
};

/// How much of a value may be shown.
enum class Secrecy {
  open,      ///< all of it
  password,  ///< all but a password: redact_dsn
  address,   ///< scheme and host: redact_address
  whole,     ///< nothing
};

struct Key {
  std::string_view name;                      ///< `worker.batch`: the name in the file
  std::string_view flag;                      ///< empty: no flag
  std::vector<std::string_view> environment;  ///< the first that is set and not empty wins
  std::string_view standard;                  ///< the default as text; empty: computed by gather()
  std::string_view description;
  Secrecy secrecy;
  Result<void> (*apply)(Config& config, const Given& given);
};

std::span<const Key> keys();
/// What keys() ends with: what is written down and judged, [relay] and [otel].
std::vector<Key> observe_keys();
std::vector<Key> relay_keys();
std::vector<Key> otel_keys();
/// What spans several keys of [otel].
Result<void> check_otel(const OtelConfig& otel);
const Key* find_key(std::string_view name);
std::vector<std::string_view> key_names();

}  // namespace sluice::config
