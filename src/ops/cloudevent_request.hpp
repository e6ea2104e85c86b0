// A CloudEvent as something to publish. docs/reference/cloudevents.md is the contract.
#pragma once

#include "core/cloudevents.hpp"
#include "ops/publish_event.hpp"

namespace sluice::ops {

/// The error names the attribute.
Result<PublishRequest> publish_request(const cloudevents::CloudEvent& event);

/// The use case names fields; the sender of a CloudEvent gave attributes.
Error in_terms_of_attributes(Error error);

}  // namespace sluice::ops
