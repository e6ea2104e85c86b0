// The parts of the Redis adapter: connections, opened when they are needed, kept for the next call, dropped when they
// break; publishing; consuming. The only header that shows hiredis' types, and only to this folder.
//
// Thread-safety: RedisLink any thread; a connection belongs to whoever has leased it.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "broker/broker.hpp"
#include "broker/broker_options.hpp"

namespace sluice::broker {

using RedisClock = std::chrono::steady_clock;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeReply>;

inline std::string_view text_of(const redisReply* reply) {
  return reply->str == nullptr ? std::string_view{} : std::string_view{reply->str, reply->len};
}

/// What an error reply means to a caller.
Error error_of(std::string_view said);

enum class Script { publish, trim, fetch, settle, open };
inline constexpr std::size_t kScripts = 5;

struct RedisUrl {
  std::string host;
  int port = 6379;
  std::string user;
  std::string password;
  int database = 0;
};
/// `redis://[user[:password]@]host[:port][/database]`
Result<RedisUrl> parse_redis_url(std::string_view url);

class RedisConnection {
 public:
  static Result<std::unique_ptr<RedisConnection>> open(const RedisUrl& url, const BrokerOptions& options);

  /// Puts a command behind those that are to be sent.
  void append(const std::vector<std::string_view>& words);
  /// The same for a script: its keys, then its other arguments.
  void append(Script script, const std::vector<std::string_view>& keys, const std::vector<std::string_view>& arguments);
  /// Sends what was appended and gives the next answer. An error means that no answer came: the connection is of no use
  /// any more, and what was sent is in doubt. What Redis itself refuses is an answer.
  Result<RedisReply> next(RedisClock::time_point deadline, const std::stop_token& stop);
  /// Sends one command and gives its answer; what Redis refuses is an error.
  Result<RedisReply> ask(const std::vector<std::string_view>& words, RedisClock::time_point deadline);
  /// Nothing is under way and the server has not hung up.
  [[nodiscard]] bool is_idle() const;
  /// What a single argument may have; from the server, or its default.
  [[nodiscard]] std::int64_t max_bytes() const { return max_bytes_; }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  explicit RedisConnection(redisContext* context) : context_(context) {}
  Result<void> greet(const RedisUrl& url, const BrokerOptions& options);
  Result<void> write(RedisClock::time_point deadline);
  Error broken();

  std::unique_ptr<redisContext, Free> context_;
  std::vector<std::string> digests_;
  std::size_t unanswered_ = 0;
  bool unsent_ = false;
  std::int64_t max_bytes_ = 0;
};

class RedisLink {
 public:
  RedisLink(RedisUrl url, BrokerOptions options) : url_(std::move(url)), options_(std::move(options)) {}

  /// Goes back to the others at its end, if it is still of use.
  class Lease {
   public:
    Lease(RedisLink& link, std::unique_ptr<RedisConnection> connection)
        : link_(&link), connection_(std::move(connection)) {}
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) link_->give_back(std::move(connection_));
    }
    RedisConnection* operator->() const { return connection_.get(); }
    RedisConnection& operator*() const { return *connection_; }

   private:
    RedisLink* link_;
    std::unique_ptr<RedisConnection> connection_;
  };
  Result<Lease> lease();
  [[nodiscard]] const BrokerOptions& options() const { return options_; }
  /// For people.
  [[nodiscard]] std::string server() const { return url_.host + ':' + std::to_string(url_.port); }

 private:
  void give_back(std::unique_ptr<RedisConnection> connection);

  const RedisUrl url_;
  const BrokerOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RedisConnection>> idle_;
  std::optional<Error> last_error_;
  RedisClock::time_point failed_at_{};
};

// ---- publish (redis_publish.cpp): a pipeline of scripts, each of which adds messages whose ids were not added before

/// The fields of an entry beside its headers.
inline constexpr std::string_view kIdField = "id";
inline constexpr std::string_view kDataField = "data";

/// As Publisher::publish.
std::vector<Result<Taken>> publish_on_redis(RedisLink& link, std::span<const OutgoingMessage> messages,
                                            Duration deadline, const std::stop_token& stop);

// ---- consume (redis_consumer.cpp): the stream without a key and one per shard, in one consumer group each

/// `sluice:3`, of a shard `sluice:3-7`.
std::string lane_stream(std::string_view prefix, std::int64_t generation, std::optional<int> shard);
/// The set of the streams that the relay has, for whoever looks at them.
std::string streams_key(std::string_view prefix);

/// As Broker::consume.
Result<std::unique_ptr<Consumer>> consume_from_redis(std::shared_ptr<RedisLink> link, const ConsumerSpec& spec);

}  // namespace sluice::broker
