// The broker seam: a message broker that carries events from the outbox to their handlers. Three roles (publish,
// consume, administer), two adapters (nats/, redis/). No adapter retries: the caller knows how long it may.
//
// Connecting: a broker is opened without a connection. Every call connects when it must; a server that is away is
// `unavailable` and Retry::safe. Credentials that it refuses are `forbidden` and Retry::safe: nothing was written, and
// an operator can mend it while events wait.
//
// Thread-safety: a Broker may be used by any thread. A Consumer has one thread that fetches; any thread may settle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice::broker {

/// Names as they were given, in any order. Names and values hold no line break.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first header of this name, ignoring case; none: there is no such header.
std::optional<std::string_view> value_of(const Headers& headers, std::string_view name);

// ---- publish

struct OutgoingMessage {
  std::string address;  ///< NATS: the subject; Redis: the key of the stream. Broker::address makes those of the relay
  std::string id;       ///< a second message with this id changes nothing, within the duplicate window
  Headers headers;
  std::string body;
};

struct Taken {
  bool duplicate = false;  ///< the broker had this id already: an earlier publish has arrived, only its answer was lost
};

class Publisher {
 public:
  virtual ~Publisher() = default;

  /// Publishes all of them, pipelined, and waits for the broker's answers: one per message, in their order. Ends by
  /// `deadline` (from now), or sooner when asked to stop.
  ///
  /// Errors: `invalid`, Retry::never: the message itself cannot be taken (too large for the broker, with its limit in
  /// the sentence; a bad address). `not_found`, Retry::safe: no stream takes this address. `unavailable`, Retry::safe:
  /// it was not sent. `timeout` or `unavailable`, Retry::in_doubt: sent, and no answer came; publish the same id again.
  /// `ErrorCode::exhausted`, Retry::safe: the broker is full.
  virtual std::vector<Result<Taken>> publish(std::span<const OutgoingMessage> messages, Duration deadline,
                                             const std::stop_token& stop) = 0;
};

// ---- consume

struct ConsumerSpec {
  std::string handler_name;  ///< with the generation it names the durable consumer; `billing.mailer`
  std::int64_t generation = 1;
  /// As Subscription::event_types. The broker may hand over others too: settle those with `done` unhandled.
  std::vector<std::string> event_types{"*"};
  /// How many shards keyed messages have; 0: there are none. Of each shard one message at a time is under way among
  /// all processes, in the order of publishing; one that is to be retried holds up its shard until it is done.
  int shards = 0;
  int max_unsettled = 256;                       ///< messages without a key under way among all processes
  Duration ack_wait = std::chrono::seconds{60};  ///< a message that is not settled or renewed for so long comes again
};

struct IncomingMessage {
  std::string address;
  std::string id;  ///< as it was published
  Headers headers;
  std::string body;
  /// How often this handler was given it, this time included. The broker counts, so a restart of the consumer does not
  /// reset it; a crash of a nats-server that is alone may take back the last second's counts and settlements.
  std::int64_t delivered = 1;
  std::optional<int> shard;
  std::string token;  ///< what settle() takes; opaque
};

struct Settlement {
  enum class What {
    done,   ///< handled, or given up: does not come again to this handler, unless a crash takes it back from the broker
    retry,  ///< comes again after `delay`
    progress,  ///< still being worked on: ack_wait begins anew
  };
  std::string_view token;
  What what = What::done;
  Duration delay{};  ///< of a retry
};

class Consumer {
 public:
  /// Messages that were fetched and not settled come again after ack_wait.
  virtual ~Consumer() = default;

  /// Up to `most` messages, as soon as there is one; none when `wait` has passed without one or a stop was asked for.
  /// `not_found`, Retry::safe: stream or consumer are gone; open it again.
  virtual Result<std::vector<IncomingMessage>> fetch(std::size_t most, Duration wait, const std::stop_token& stop) = 0;

  /// Settles all of them, pipelined; an answer per message, in their order: the broker has confirmed it, or an error
  /// that says whether it may be repeated. Repeating is harmless. `conflict`: the message came to somebody else
  /// meanwhile, and a retry or progress changes nothing. Only Redis tells; NATS confirms.
  virtual std::vector<Result<void>> settle(std::span<const Settlement> settlements, Duration deadline) = 0;
};

// ---- administer

/// What the relay's stream should be. What is there and differs is left alone and reported.
struct StreamSpec {
  int replicas = 1;                                   ///< NATS; 3 in a NATS cluster
  Duration duplicate_window = std::chrono::hours{2};  ///< longer than the claim TTL and the longest retry gap together
  Duration max_age = std::chrono::hours{24 * 7};      ///< NATS: messages older than this are dropped, read or not
  std::int64_t max_bytes = 0;                         ///< NATS: new messages are refused beyond it; 0: no limit
  std::int64_t max_messages =
      0;  ///< Redis: the oldest are trimmed beyond it, never what a group has not settled; 0: no limit
};

struct ConsumerFacts {
  std::string name;
  std::string address;         ///< the subjects it is for, or its stream
  std::int64_t waiting = 0;    ///< not yet handed to anybody; -1: the broker cannot tell
  std::int64_t unsettled = 0;  ///< handed over and not done, retries included
  std::string handler_name{};  ///< as in its ConsumerSpec; empty: no handler's, somebody else has made it
  std::int64_t generation = 0;
};

/// What `doctor` and the checks at the start look at. What a broker does not know is none.
struct BrokerFacts {
  std::string kind;     ///< `nats`, `redis`
  std::string server;   ///< where it is connected to, without secrets
  std::string version;  ///< of the server
  bool stream_exists = false;
  std::string stream;
  std::vector<std::string> subjects;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> max_message_bytes;
  std::optional<std::int64_t> max_messages;  ///< NATS: how many messages and bytes the stream may have
  std::optional<std::int64_t> max_bytes;
  std::optional<Duration> duplicate_window;
  std::optional<Duration> max_age;
  std::optional<std::string> storage;           ///< NATS: `file`, `memory`
  std::optional<std::string> discard;           ///< NATS: `new`, `old`
  std::optional<int> replicas;                  ///< NATS: as configured
  std::optional<int> replicas_current;          ///< NATS: of them with all messages, the leader included
  std::optional<bool> appendonly;               ///< Redis
  std::optional<std::string> appendfsync;       ///< Redis: `always`, `everysec`, `no`
  std::optional<std::string> maxmemory_policy;  ///< Redis: anything but `noeviction` drops data
  std::vector<ConsumerFacts> consumers;
};

/// NATS: the stream has as many messages as it may, and refuses new ones.
inline bool is_full(const BrokerFacts& facts) {
  return facts.discard == "new" && facts.max_messages && facts.messages >= *facts.max_messages;
}

/// In one sentence what the broker's answer to a publish is worth: what a crash may take back.
std::string worth_of_answer(const BrokerFacts& facts);

class Administration {
 public:
  virtual ~Administration() = default;
  /// Makes the relay's stream unless it is there. Redis: checks the connection, streams come with their first message.
  virtual Result<void> ensure(const StreamSpec& spec) = 0;
  virtual Result<BrokerFacts> inspect() = 0;
};

// ---- all of them

class Broker : public Publisher, public Administration {
 public:
  /// Where the relay publishes an event: `sluice.3.order.paid`, of shard 7 `sluice.3-7.order.paid` (NATS); `sluice:3`,
  /// `sluice:3-7` (Redis).
  [[nodiscard]] virtual std::string address(std::int64_t generation, std::optional<int> shard,
                                            std::string_view event_type) const = 0;

  /// Creates what the handler needs to consume, or checks that what is there fits and adapts it. A new consumer begins
  /// with the oldest message that the stream still has.
  virtual Result<std::unique_ptr<Consumer>> consume(const ConsumerSpec& spec) = 0;
};

/// The shard of an ordering key: the same in every process and version.
int shard_of(std::string_view ordering_key, int shards);

}  // namespace sluice::broker
