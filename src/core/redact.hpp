// Secrets never leave through a message, a table or a log line.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The DSN with its password replaced by `***`: `postgres://user:***@host/db?password=***` and the
/// keyword form `host=db password=***`. Anything else is returned as it is.
std::string redact_dsn(std::string_view dsn);

/// Scheme and host of a URL, for addresses whose user, path or query are the secret:
/// `https://hooks.example.com/***`. Anything else becomes `***`.
std::string redact_address(std::string_view url);

}  // namespace sluice
