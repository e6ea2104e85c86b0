#include "broker/redis/redis.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

// Sent together; the next ones wait for their answers.
constexpr std::size_t kWindow = 512;
// Added by one call of the script, which the server does not interrupt.
constexpr std::size_t kGroup = 128;
constexpr std::size_t kGroupBytes = std::size_t{1024} * 1024;

Result<void> check(const OutgoingMessage& message, std::int64_t most) {
  if (message.address.empty()) return invalid("address", "the key of a stream must not be empty");
  if (message.id.empty()) return invalid("id", "a message needs an id: it is what a second one is recognised by");
  if (static_cast<std::int64_t>(message.body.size()) <= most) return {};
  return Error{ErrorCode::invalid, Retry::never,
               "the message has " + std::to_string(message.body.size()) + " bytes, and Redis takes no more than " +
                   std::to_string(most) + ": proto-max-bulk-len of redis-server",
               "body", "raise the limit, or publish a smaller payload"};
}

// What one call of the script adds: places in the messages.
struct Group {
  std::vector<std::size_t> places;
  std::size_t bytes = 0;

  [[nodiscard]] bool has_room_for(const OutgoingMessage& message) const {
    return places.empty() || (places.size() < kGroup && bytes + message.body.size() <= kGroupBytes);
  }
  void add(std::size_t place, const OutgoingMessage& message) {
    places.push_back(place);
    bytes += message.body.size();
  }
};

void append(RedisConnection& connection, const Group& group, std::span<const OutgoingMessage> messages,
            const std::string& window_ms) {
  // What the arguments refer to.
  std::vector<std::string> own;
  own.reserve(group.places.size() * 2);
  std::vector<std::string_view> keys;
  std::vector<std::string_view> arguments{window_ms};
  for (const std::size_t place : group.places) {
    const OutgoingMessage& message = messages[place];
    keys.insert(keys.end(), {message.address, own.emplace_back(message.address + ":id:" + message.id)});
    arguments.emplace_back(own.emplace_back(std::to_string(4 + 2 * message.headers.size())));
    arguments.insert(arguments.end(), {kIdField, message.id, kDataField, message.body});
    for (const auto& [name, value] : message.headers) {
      arguments.emplace_back(name);
      arguments.emplace_back(value);
    }
  }
  connection.append(Script::publish, keys, arguments);
}

// Of the messages from `from` on; what cannot be sent has its outcome at once.
std::vector<Group> groups_of(std::span<const OutgoingMessage> messages, std::size_t from, std::int64_t most,
                             std::vector<Result<Taken>>& outcomes) {
  std::vector<Group> groups;
  for (std::size_t place = from; place < std::min(from + kWindow, messages.size()); ++place) {
    if (auto checked = check(messages[place], most); !checked) {
      outcomes[place] = checked.error();
      continue;
    }
    if (groups.empty() || !groups.back().has_room_for(messages[place])) groups.emplace_back();
    groups.back().add(place, messages[place]);
  }
  return groups;
}

// An answer per message, or one refusal for all.
Result<Taken> outcome(const redisReply& reply, std::size_t nth) {
  const bool each = reply.type == REDIS_REPLY_ARRAY && nth < reply.elements;
  const redisReply& answer = each ? *reply.element[nth] : reply;
  if (answer.type == REDIS_REPLY_ERROR) return error_of(text_of(&answer));
  return Taken{answer.integer == 0};
}

// Nothing of it has left: it may be sent again.
Error unsent(Error error) {
  error.retry = Retry::safe;
  return error;
}

// What did not fit into the answers is not worth an error: the next publish trims again.
void trim(RedisConnection& connection, std::span<const OutgoingMessage> messages, std::int64_t most,
          RedisClock::time_point deadline) {
  std::set<std::string_view> streams;
  for (const OutgoingMessage& message : messages) streams.insert(message.address);
  const std::string count = std::to_string(most);
  for (const std::string_view stream : streams) {
    if (stream.empty()) continue;
    connection.append(Script::trim, {stream}, {count});
    if (!connection.next(deadline, {})) return;
  }
}

}  // namespace

std::vector<Result<Taken>> publish_on_redis(RedisLink& link, std::span<const OutgoingMessage> messages,
                                            Duration deadline, const std::stop_token& stop) {
  const auto until = RedisClock::now() + deadline;
  if (messages.empty()) return {};
  const auto connection = link.lease();
  if (!connection) return std::vector<Result<Taken>>(messages.size(), connection.error());
  const std::string window =
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(link.options().duplicate_window).count());

  // Each has another one before this returns.
  const Error none{ErrorCode::internal, Retry::in_doubt, "nobody asked Redis", {}, {}};
  std::vector<Result<Taken>> outcomes(messages.size(), none);
  std::optional<Error> lost;
  for (std::size_t from = 0; from < messages.size(); from += kWindow) {
    const auto groups = groups_of(messages, from, (*connection)->max_bytes(), outcomes);
    const bool sent = !lost;
    for (const Group& group : groups) {
      if (sent) append(**connection, group, messages, window);
    }
    for (const Group& group : groups) {
      RedisReply reply;
      if (!lost) {
        auto answer = (*connection)->next(until, stop);
        if (answer) reply = *std::move(answer);
        if (!answer) lost = answer.error();
      }
      for (std::size_t nth = 0; nth < group.places.size(); ++nth) {
        Result<Taken>& to = outcomes[group.places[nth]];
        if (reply) to = outcome(*reply, nth);
        if (!reply) to = sent ? *lost : unsent(*lost);
      }
    }
  }
  if (link.options().max_messages > 0 && !lost) trim(**connection, messages, link.options().max_messages, until);
  return outcomes;
}

}  // namespace sluice::broker
