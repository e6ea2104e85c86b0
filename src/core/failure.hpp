// What a failure is, and whether it is worth another attempt.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sluice/retry_policy.hpp>

namespace sluice {

/// Error classes that the classifier knows. Any other class name is transient by default.
namespace error_class {
inline constexpr std::string_view payload = "PayloadError";          ///< terminal
inline constexpr std::string_view integrity = "IntegrityError";      ///< terminal: SQLSTATE class 23
inline constexpr std::string_view terminal = "TerminalError";        ///< terminal: the handler said so
inline constexpr std::string_view connection = "ConnectionError";    ///< transient
inline constexpr std::string_view timeout = "TimeoutError";          ///< transient
inline constexpr std::string_view operational = "OperationalError";  ///< transient
inline constexpr std::string_view claim_expired = "ClaimExpired";    ///< transient
inline constexpr std::string_view unknown = "Error";                 ///< transient
}  // namespace error_class

inline constexpr std::size_t kLastErrorMaxBytes = 4096;

/// A failure of one handler. `error_class` is what `split_part(last_error, ':', 1)` yields.
struct Failure {
  std::string error_class;  ///< empty: derived from `sqlstate`, else `Error`
  std::string message;
  std::string sqlstate;   ///< five characters where a database raised it, else empty
  bool terminal = false;  ///< a subclass of TerminalError, whatever its class name

  /// `IntegrityError: duplicate key …`, control characters made visible, cut to 4 KiB at a
  /// character boundary.
  [[nodiscard]] std::string last_error() const;
};

/// What is said of an attempt whose claim ran out.
inline Failure expiry_failure() { return {std::string{error_class::claim_expired}, "claim expired", {}, false}; }

/// The class that a failure is filed under: its own, or the one its SQLSTATE implies
/// (23 → IntegrityError, 08 and 57P → ConnectionError, 57014 → TimeoutError, other → OperationalError).
std::string effective_class(const Failure& failure);

enum class Disposition { transient, terminal };

Disposition classify(const Failure& failure, const RetryPolicy& policy);

/// The error text with what varies from event to event replaced: uuids, numbers, hex, quoted
/// strings, addresses, times. At most 512 bytes.
std::string normalise_error(std::string_view message);

/// 16 hex characters over the class and the normalised message: the key of a group of failures.
std::string fingerprint(std::string_view error_class, std::string_view message);

}  // namespace sluice
