// The alert seam: where alerts go.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/alert.hpp"

namespace sluice::alert {

/// What the receiver answered.
struct Sent {
  bool accepted = true;                 ///< false: it asked to be left alone; send the alert again later
  std::optional<Duration> retry_after;  ///< nothing may be sent to this receiver for so long
  std::string answer;                   ///< for people: `200`, `429 Too Many Requests`
};

/// Thread-safety: none; one thread sends.
class AlertChannel {
 public:
  virtual ~AlertChannel() = default;

  /// `sentry`, `webhook`.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The receiver, without anything secret.
  [[nodiscard]] virtual std::string display() const = 0;

  /// Blocks for ten seconds at the most, and returns early when a stop is asked for. An error with
  /// Retry::never: the receiver will not take this alert, however often it is sent.
  virtual Result<Sent> send(const Alert& alert, const std::stop_token& stop) = 0;
};

}  // namespace sluice::alert
