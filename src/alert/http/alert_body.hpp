// An alert as its receivers read it: a Sentry envelope, or the JSON of a generic webhook. Pure.
#pragma once

#include <string>

#include "core/alert.hpp"

namespace sluice::alert {

/// Who sends alerts, as receivers show it.
struct Sender {
  std::string service;
  std::string environment;
  std::string version;  ///< of Sluice
};

/// `{"alert":"event.failed","alert_id":…,"service":…,"environment":…,` and what is known of the failure.
std::string webhook_body(const Alert& alert, const Sender& sender);

/// 32 lower-case hex digits.
std::string sentry_event_id(const Alert& alert);

/// The event: failures of one fingerprint become one issue, and what the seed of an investigation needs
/// stands in tags (to search by) and in the context `sluice` (to read).
std::string sentry_event(const Alert& alert, const Sender& sender);

/// Three lines: the header, the item's header with the length of the event, the event.
std::string sentry_envelope(const Alert& alert, const Sender& sender, Timestamp sent_at);

}  // namespace sluice::alert
