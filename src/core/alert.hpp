// What an alert says: an event has failed and will not be tried again by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"

namespace sluice {

/// One event that was settled to failed. Its payload is not part of it: alerts leave the house.
struct FailureNotice {
  Uuid event_id;
  std::string event_type;  ///< empty: only the id is known, and the row tells the rest
  std::string source;
  std::optional<std::string> target;
  std::optional<Uuid> workspace_id;
  Generation generation = 0;
  std::string handler_name;  ///< empty: no handler of this process failed it; its claim ran out
  std::string error_class;
  std::string fingerprint;
  std::string last_error;
  int attempts = 0;
  std::optional<std::string> trace_context;  ///< W3C traceparent
  std::optional<Timestamp> failed_at;        ///< none: when it was reported
};

/// What is sent. Every alert stands for `1 + suppressed` failures.
struct Alert {
  Uuid alert_id;  ///< the same in every attempt to send it, so that a receiver can tell a repetition
  FailureNotice failure;
  std::int64_t suppressed = 0;  ///< further failures of the group that got no alert of their own
};

}  // namespace sluice
