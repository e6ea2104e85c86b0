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

Result<void> check(const OutgoingMessage& message, std::int64_t most) {
  if (message.address.empty()) return invalid("address", "the key of a stream must not be empty");
  if (message.id.empty()) return invalid("id", "a message needs an id: it is what a second one is recognised by");
  if (static_cast<std::int64_t>(message.body.size()) <= most) return {};
  return Error{ErrorCode::invalid, Retry::never,
               "the message has " + std::to_string(message.body.size()) + " bytes, and Redis takes no more than " +
                   std::to_string(most) + ": proto-max-bulk-len of redis-server",
               "body", "raise the limit, or publish a smaller payload"};
}

void append(RedisConnection& connection, const OutgoingMessage& message, const std::string& window_ms) {
  const std::string id_key = message.address + ":id:" + message.id;
  std::vector<std::string_view> arguments{window_ms, kIdField, message.id, kDataField, message.body};
  for (const auto& [name, value] : message.headers) {
    arguments.emplace_back(name);
    arguments.emplace_back(value);
  }
  connection.append(Script::publish, {message.address, id_key}, arguments);
}

Result<Taken> outcome(const Result<RedisReply>& reply) {
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_ERROR) return error_of(text_of(reply->get()));
  return Taken{(*reply)->integer == 0};
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

  std::vector<Result<Taken>> outcomes;
  outcomes.reserve(messages.size());
  std::optional<Error> lost;
  for (std::size_t from = 0; from < messages.size(); from += kWindow) {
    const auto part = messages.subspan(from, std::min(kWindow, messages.size() - from));
    std::vector<Result<void>> checks;
    checks.reserve(part.size());
    for (const OutgoingMessage& message : part) {
      checks.push_back(check(message, (*connection)->max_bytes()));
      if (checks.back() && !lost) append(**connection, message, window);
    }
    const bool sent = !lost;
    for (const Result<void>& checked : checks) {
      if (!checked) {
        outcomes.emplace_back(checked.error());
        continue;
      }
      if (!lost) {
        outcomes.push_back(outcome((*connection)->next(until, stop)));
        if (!outcomes.back() && outcomes.back().error().retry == Retry::in_doubt) lost = outcomes.back().error();
        continue;
      }
      Error error = *lost;
      if (!sent) error.retry = Retry::safe;
      outcomes.emplace_back(std::move(error));
    }
  }
  if (link.options().max_messages > 0 && !lost) trim(**connection, messages, link.options().max_messages, until);
  return outcomes;
}

}  // namespace sluice::broker
