// Secrets never leave through a message, a table or a log line, and payloads leave the house without what is private in
// them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The DSN with its password replaced by `***`: `postgres://user:***@host/db?password=***` and the
/// keyword form `host=db password=***`. Anything else is returned as it is.
std::string redact_dsn(std::string_view dsn);

/// Scheme and host of a URL, for addresses whose user, path or query are the secret:
/// `https://hooks.example.com/***`. Anything else becomes `***`.
std::string redact_address(std::string_view url);

struct RedactionPolicy {
  enum class Mode {
    none,    ///< as it is
    fields,  ///< the values of the named members, at any depth
    values,  ///< every string and number
  };
  Mode mode = Mode::fields;
  /// Lower case. A member is meant when its name, in lower case and without `_` and `-`, contains one.
  std::vector<std::string> fields{"password",      "passwd", "secret", "token", "apikey",
                                  "authorization", "cookie", "email",  "phone", "address",
                                  "iban",          "card",   "ssn"};

  /// Nothing is hidden.
  static RedactionPolicy off() { return {Mode::none, {}}; }
};

/// What stands in the place of a hidden value: a string, whatever the value was.
inline constexpr std::string_view kRedacted = "[redacted]";

/// `json` is a valid JSON value; its shape stays, and everything that is not hidden stays byte for byte.
std::string redact_payload(std::string_view json, const RedactionPolicy& policy);

}  // namespace sluice
