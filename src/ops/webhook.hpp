// The webhook inbox: whether a delivery is genuine, and a genuine one as an event to store.
//
// The event's id follows from the source and the provider's delivery id, so that a delivery that comes again, minutes
// or days later, is stored once.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "config/declared.hpp"
#include "ops/publish_event.hpp"

namespace sluice::ops {

struct WebhookDelivery {
  const std::map<std::string, std::string, std::less<>>& headers;  ///< names in lower case
  std::string_view body;                                           ///< as it came: the signature is over these bytes
  Timestamp now{};
};

/// What a genuine delivery calls itself.
struct WebhookLabel {
  std::string delivery_id;  ///< the provider's; the same for each repetition
  std::string event;        ///< the provider's word for what happened, as it came; empty when it has none
};

/// An error of code `forbidden` means: not signed as it should be, or signed too long ago (or ahead). Signatures are
/// compared in constant time, and any of the hook's secrets will do. `invalid`: genuine, but without a usable id.
Result<WebhookLabel> verify_webhook(const config::HookConfig& hook, const WebhookDelivery& delivery);

// The webhook inbox: a genuine delivery as an event to store.
//
// The event's id follows from the source and the provider's delivery id, so that a delivery that comes again, minutes
// or days later, is stored once.

/// `json` is what the body says: an object is the payload as it is, anything else becomes `{"body":…}`. The error names
/// `body`.
Result<PublishRequest> publish_request(const config::HookConfig& hook, const WebhookLabel& label, std::string json);

/// The type that the hook gives to an event that the provider calls `event`: always a valid one if the hook's
/// pattern is.
std::string webhook_event_type(const config::HookConfig& hook, std::string_view event);

}  // namespace sluice::ops
