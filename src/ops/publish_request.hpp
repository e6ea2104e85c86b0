// What others send as something to publish: our JSON, or a CloudEvent. docs/reference/cloudevents.md is the contract of
// the second.
#pragma once

#include <string_view>

#include "core/cloudevents.hpp"
#include "core/json.hpp"
#include "ops/publish_event.hpp"

namespace sluice::ops {

/// `{"type":"demo.hello","source":"demo","payload":{…}}`. `event_type` and `type` are the same; `delay` is a text like
/// `5m` or a number of seconds; null is as good as left out. A name that is not known is an error, because a misspelt
/// member would be lost without a word. The payload is kept as it was written.
Result<PublishRequest> publish_request(std::string_view json);
/// The same of an event that was read with the text around it.
Result<PublishRequest> publish_request(json::Part outline, std::string_view field = "event");

// A CloudEvent as something to publish. docs/reference/cloudevents.md is the contract.

/// The error names the attribute.
Result<PublishRequest> publish_request(const cloudevents::CloudEvent& event);

/// The use case names fields; the sender of a CloudEvent gave attributes.
Error in_terms_of_attributes(Error error);

}  // namespace sluice::ops
