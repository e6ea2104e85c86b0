// Payloads that leave the house without what is private in them. Pure; the shape of the JSON stays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

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

/// `json` is a valid JSON value; everything that is not hidden stays byte for byte.
std::string redact_payload(std::string_view json, const RedactionPolicy& policy);

}  // namespace sluice
