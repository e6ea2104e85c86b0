// The webhook inbox: a genuine delivery as an event to store.
//
// The event's id follows from the source and the provider's delivery id, so that a delivery that comes again, minutes
// or days later, is stored once.
#pragma once

#include <string>

#include "ops/publish_event.hpp"
#include "ops/webhook_verify.hpp"

namespace sluice::ops {

/// `json` is what the body says: an object is the payload as it is, anything else becomes `{"body":…}`. The error names
/// `body`.
Result<PublishRequest> publish_request(const config::HookConfig& hook, const WebhookLabel& label, std::string json);

/// The type that the hook gives to an event that the provider calls `event`: always a valid one if the hook's
/// pattern is.
std::string webhook_event_type(const config::HookConfig& hook, std::string_view event);

}  // namespace sluice::ops
