#include "broker/redis/redis.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// For a script and its answer, beyond what the caller waits for messages.
constexpr std::chrono::seconds kAnswerTime{10};

struct RedisLane {
  std::optional<int> shard;
  std::string stream;
  std::string due;
};

// `lane|entry|delivered`
struct RedisToken {
  std::size_t lane = 0;
  std::string_view entry;
  std::string_view delivered;
};
std::optional<RedisToken> read_token(std::string_view text, std::size_t lanes) {
  const auto parts = split(text, '|');
  RedisToken token;
  if (parts.size() != 3 ||
      std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), token.lane).ec != std::errc{} ||
      token.lane >= lanes) {
    return std::nullopt;
  }
  token.entry = parts[1];
  token.delivered = parts[2];
  return token;
}

std::string milliseconds_of(Duration time) { return std::to_string(duration_cast<milliseconds>(time).count()); }

std::string_view name_of(Settlement::What what) {
  switch (what) {
    case Settlement::What::done:
      return "done";
    case Settlement::What::retry:
      return "retry";
    case Settlement::What::progress:
      return "progress";
  }
  return "done";
}

class RedisConsumer final : public Consumer {
 public:
  RedisConsumer(std::shared_ptr<RedisLink> link, ConsumerSpec spec, std::vector<RedisLane> lanes)
      : link_(std::move(link)),
        spec_(std::move(spec)),
        lanes_(std::move(lanes)),
        bell_(lanes_.front().stream + ":bell:" + spec_.handler_name),
        ack_wait_(milliseconds_of(spec_.ack_wait)) {}

  Result<std::vector<IncomingMessage>> fetch(std::size_t most, Duration wait, const std::stop_token& stop) override {
    const auto deadline = RedisClock::now() + wait;
    while (true) {
      SLUICE_TRY(const RedisLink::Lease connection, link_->lease());
      SLUICE_TRY(const RedisReply reply, hand_out(*connection, most));
      std::vector<IncomingMessage> messages = read(*reply->element[0]);
      const auto left = duration_cast<milliseconds>(deadline - RedisClock::now());
      if (!messages.empty() || left <= milliseconds{0} || stop.stop_requested()) return messages;
      SLUICE_CHECK(await(*connection, *reply, left, stop));
    }
  }

  std::vector<Result<void>> settle(std::span<const Settlement> settlements, Duration deadline) override {
    const auto until = RedisClock::now() + deadline;
    const auto connection = link_->lease();
    if (!connection) return std::vector<Result<void>>(settlements.size(), connection.error());
    for (const Settlement& settlement : settlements) append(**connection, settlement);
    std::vector<Result<void>> outcomes;
    outcomes.reserve(settlements.size());
    for (const Settlement& settlement : settlements) outcomes.push_back(outcome(**connection, settlement, until));
    return outcomes;
  }

 private:
  Result<RedisReply> hand_out(RedisConnection& connection, std::size_t most) {
    std::vector<std::string_view> keys{bell_};
    for (const RedisLane& lane : lanes_) {
      keys.emplace_back(lane.stream);
      keys.emplace_back(lane.due);
    }
    const std::string count = std::to_string(most);
    const std::string limit = std::to_string(spec_.max_unsettled);
    connection.append(Script::fetch, keys, {spec_.handler_name, link_->options().client_name, ack_wait_, count, limit});
    auto reply = connection.next(RedisClock::now() + kAnswerTime, {});
    if (!reply) {
      // What it has handed out meanwhile comes again after the ack wait.
      Error error = reply.error();
      error.retry = Retry::safe;
      return error;
    }
    if ((*reply)->type == REDIS_REPLY_ERROR) return error_of(text_of(reply->get()));
    return reply;
  }

  // Until there may be something: a new message, something due, or the bell.
  Result<void> await(RedisConnection& connection, const redisReply& nothing, milliseconds left,
                     const std::stop_token& stop) {
    const auto due = milliseconds{nothing.element[1]->integer};
    if (due >= milliseconds{0}) left = std::min(left, due);
    if (left <= milliseconds{0}) return {};
    const std::string block = std::to_string(left.count());
    std::vector<std::string_view> words{"XREAD", "COUNT", "1", "BLOCK", block, "STREAMS"};
    const redisReply& rooms = *nothing.element[3];
    for (std::size_t i = 0; i < rooms.elements; ++i) {
      words.emplace_back(lanes_[static_cast<std::size_t>(rooms.element[i]->element[0]->integer)].stream);
    }
    words.emplace_back(bell_);
    for (std::size_t i = 0; i < rooms.elements; ++i) words.push_back(text_of(rooms.element[i]->element[1]));
    words.push_back(text_of(nothing.element[2]));
    connection.append(words);
    const auto reply = connection.next(RedisClock::now() + left + kAnswerTime, stop);
    if (reply && (*reply)->type == REDIS_REPLY_ERROR) return error_of(text_of(reply->get()));
    if (reply || stop.stop_requested()) return {};
    Error error = reply.error();
    error.retry = Retry::safe;
    return error;
  }

  [[nodiscard]] std::vector<IncomingMessage> read(const redisReply& handed) const {
    std::vector<IncomingMessage> messages;
    messages.reserve(handed.elements);
    for (std::size_t i = 0; i < handed.elements; ++i) {
      const redisReply& entry = *handed.element[i];
      const auto at = static_cast<std::size_t>(entry.element[0]->integer);
      const RedisLane& lane = lanes_[at];
      IncomingMessage message;
      message.address = lane.stream;
      message.shard = lane.shard;
      message.delivered = entry.element[2]->integer;
      message.token =
          std::to_string(at) + '|' + std::string{text_of(entry.element[1])} + '|' + std::to_string(message.delivered);
      const redisReply& fields = *entry.element[3];
      for (std::size_t f = 0; f + 1 < fields.elements; f += 2) {
        const std::string_view name = text_of(fields.element[f]);
        const std::string_view value = text_of(fields.element[f + 1]);
        if (name == kIdField) {
          message.id = value;
        } else if (name == kDataField) {
          message.body = value;
        } else {
          message.headers.emplace_back(name, value);
        }
      }
      messages.push_back(std::move(message));
    }
    return messages;
  }

  void append(RedisConnection& connection, const Settlement& settlement) const {
    const auto token = read_token(settlement.token, lanes_.size());
    if (!token) return;
    const RedisLane& lane = lanes_[token->lane];
    const std::string time = settlement.what == Settlement::What::retry ? milliseconds_of(settlement.delay) : ack_wait_;
    connection.append(Script::settle, {lane.stream, lane.due, bell_},
                      {spec_.handler_name, token->entry, token->delivered, name_of(settlement.what), time});
  }

  [[nodiscard]] Result<void> outcome(RedisConnection& connection, const Settlement& settlement,
                                     RedisClock::time_point until) const {
    if (!read_token(settlement.token, lanes_.size())) return invalid("token", "this token is of another consumer");
    SLUICE_TRY(const RedisReply reply, connection.next(until, {}));
    if (reply->type == REDIS_REPLY_ERROR) return error_of(text_of(reply.get()));
    if (reply->integer == 1) return {};
    return Error{ErrorCode::conflict, Retry::never, "the message came to somebody else meanwhile", {}, {}};
  }

  const std::shared_ptr<RedisLink> link_;
  const ConsumerSpec spec_;
  const std::vector<RedisLane> lanes_;
  const std::string bell_;
  const std::string ack_wait_;
};

}  // namespace

std::string lane_stream(std::string_view prefix, std::int64_t generation, std::optional<int> shard) {
  std::string stream = std::string{prefix} + ':' + std::to_string(generation);
  if (shard) stream += '-' + std::to_string(*shard);
  return stream;
}

std::string streams_key(std::string_view prefix) { return std::string{prefix} + ":streams"; }

Result<std::unique_ptr<Consumer>> consume_from_redis(std::shared_ptr<RedisLink> link, const ConsumerSpec& spec) {
  const std::string& prefix = link->options().prefix;
  const std::string ack_wait = milliseconds_of(spec.ack_wait);
  const auto deadline = RedisClock::now() + kAnswerTime;
  std::vector<RedisLane> lanes;
  {
    SLUICE_TRY(const RedisLink::Lease connection, link->lease());
    for (int shard = -1; shard < spec.shards; ++shard) {
      RedisLane lane;
      if (shard >= 0) lane.shard = shard;
      lane.stream = lane_stream(prefix, spec.generation, lane.shard);
      lane.due = lane.stream + ":due:" + spec.handler_name;
      connection->append(Script::open, {lane.stream, lane.due}, {spec.handler_name, ack_wait});
      SLUICE_TRY(const RedisReply reply, connection->next(deadline, {}));
      if (reply->type == REDIS_REPLY_ERROR) return error_of(text_of(reply.get()));
      SLUICE_CHECK(connection->ask({"SADD", streams_key(prefix), lane.stream}, deadline));
      lanes.push_back(std::move(lane));
    }
  }
  return std::unique_ptr<Consumer>{std::make_unique<RedisConsumer>(std::move(link), spec, std::move(lanes))};
}

}  // namespace sluice::broker
