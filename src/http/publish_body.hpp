// What a request to publish says, whichever of its forms it has.
#pragma once

#include <vector>

#include "http/message.hpp"
#include "ops/publish_event.hpp"

namespace sluice::http {

struct PublishBody {
  std::vector<ops::PublishRequest> events;
  bool many = false;         ///< a list, also of one: it is answered with a list
  bool cloudevents = false;  ///< errors name attributes, not fields
};

/// Empty: the media type is none of those that are taken.
std::optional<Result<PublishBody>> read_publish(const Request& request);

/// `payload` of event 3 is `events[3].payload` where there are many, and in the sender's terms.
Error at_event(Error error, std::size_t index, const PublishBody& body);

}  // namespace sluice::http
