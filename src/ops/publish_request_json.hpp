// The JSON of an event that is to be published: the envelope's members, all but two of them optional, and where it
// goes.
#pragma once

#include <span>
#include <string_view>

#include "core/json.hpp"
#include "ops/publish_event.hpp"

namespace sluice::ops {

/// `{"type":"demo.hello","source":"demo","payload":{…}}`. `event_type` and `type` are the same; `delay` is a text like
/// `5m` or a number of seconds; null is as good as left out. A name that is not known is an error, because a misspelt
/// member would be lost without a word. The payload is kept as it was written.
Result<PublishRequest> publish_request(std::string_view json);
/// The same of members that were read already.
Result<PublishRequest> publish_request(std::span<const json::Member> members);

}  // namespace sluice::ops
