// The parts of the NATS adapter: the connection, made when it is needed and made anew when it broke; publishing all at
// once with an answer awaited for each; consuming through a durable pull consumer for messages without a key and one
// per shard, all of them asked through one inbox; what stands on the server. The only header that shows libnats' types,
// and only to this folder.
//
// Thread-safety: NatsLink any thread.
#pragma once

#include <nats/nats.h>

#include <chrono>
#include <condition_variable>
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

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* it) const { destroy(it); }
};
using NatsMsg = std::unique_ptr<natsMsg, Destroy<natsMsg, natsMsg_Destroy>>;
using NatsSubscription = std::unique_ptr<natsSubscription, Destroy<natsSubscription, natsSubscription_Destroy>>;
using NatsContext = std::unique_ptr<jsCtx, Destroy<jsCtx, jsCtx_Destroy>>;
using NatsConnection = std::shared_ptr<natsConnection>;

/// How soon somebody who waits notices a stop and a broken connection.
inline constexpr std::chrono::milliseconds kNatsGlance{50};

/// What a status means to a caller; `doing` as in "cannot … (reason)".
Error error_of(natsStatus status, std::string_view doing, Retry retry);
/// The same for an answer of JetStream's own.
Error error_of(natsStatus status, jsErrCode code, std::string_view doing);

class NatsLink {
 public:
  explicit NatsLink(BrokerOptions options) : options_(std::move(options)) {}

  /// A connection that is up; connects when there is none, or when it broke. A server that is away: unavailable.
  Result<NatsConnection> connected();
  /// How long a request to JetStream itself may take.
  Result<NatsContext> jetstream(const NatsConnection& connection) const;
  [[nodiscard]] const BrokerOptions& options() const { return options_; }

 private:
  Result<NatsConnection> connect() const;

  const BrokerOptions options_;
  std::mutex mutex_;  // guards the rest; not held while somebody connects
  std::condition_variable connected_or_not_;
  bool connecting_ = false;
  NatsConnection connection_;
  std::optional<Error> last_error_;
  std::chrono::steady_clock::time_point failed_at_{};
};

// ---- log in (nats_login.cpp): who we are, TLS, and what a refusal means

/// A status of setting an option: no message is at fault, so an error may always be tried again.
Result<void> settled_option(natsStatus status);
/// Identity and TLS. Files are read here, for each connection anew; one that is of no use is named.
Result<void> set_login(natsOptions* to, const BrokerOptions& from);
/// Why there is no connection.
Error refused_connection(natsStatus status, const BrokerOptions& options);

/// False once it broke: answers to what was sent before do not come any more.
bool is_up(const NatsConnection& connection);

/// Whether the server itself has written this message, to say how a request went (`404`, `408`).
bool is_status(natsMsg* message);

// ---- requests and answers (nats_exchange.cpp)

/// Many requests at once, and an answer to each: JetStream answers a publish and an acknowledgement to the reply
/// subject that came with it. One subscription gathers the answers of one call. For one thread; make one per call.
class NatsExchange {
 public:
  using Clock = std::chrono::steady_clock;

  /// More than this many requests without an answer make the next one wait.
  static constexpr std::size_t kWindow = 1024;

  static Result<NatsExchange> begin(const NatsConnection& connection, std::size_t requests, Clock::time_point deadline,
                                    std::stop_token stop);

  /// The reply subject of the nth request, to be given with its message.
  [[nodiscard]] std::string reply_subject(std::size_t nth) const { return inbox_ + '.' + std::to_string(nth); }
  /// Sends a request. When the window is full, gathers answers first. A request that could not be sent gets no answer.
  natsStatus send(natsMsg* message);
  /// Waits for the answers that are missing, until the deadline, a stop, or the end of the connection.
  void gather();
  /// None: it was not sent, nobody was there, or no answer came.
  [[nodiscard]] natsMsg* answer(std::size_t nth) const { return answers_[nth].get(); }
  /// Of a request that was sent and has no answer: the server said that nobody listens to its subject.
  [[nodiscard]] bool nobody_listens() const { return no_listeners_ && unanswered_ == 0; }
  [[nodiscard]] bool connection_broke() const { return broke_; }

 private:
  NatsExchange(NatsConnection connection, std::size_t requests, Clock::time_point deadline, std::stop_token stop);
  bool gather_one();

  NatsConnection connection_;
  std::string inbox_;
  NatsSubscription subscription_;
  std::vector<NatsMsg> answers_;
  std::size_t unanswered_ = 0;
  Clock::time_point deadline_;
  std::stop_token stop_;
  bool broke_ = false;
  bool no_listeners_ = false;
};

/// A subject that nobody else listens to.
Result<std::string> make_inbox();

// ---- publish (nats_publish.cpp)

/// As Publisher::publish.
std::vector<Result<Taken>> publish_on_nats(NatsLink& link, std::span<const OutgoingMessage> messages, Duration deadline,
                                           const std::stop_token& stop);

// ---- consume (nats_consumer.cpp)

/// `sluice.3`, of a shard `sluice.3-7`: what the subjects of a lane begin with.
std::string lane_subject(std::string_view prefix, std::int64_t generation, std::optional<int> shard);

/// Whose a durable consumer is, by its name; none: no handler's.
struct DurableOwner {
  std::int64_t generation = 0;
  std::string handler_name;
};
std::optional<DurableOwner> owner_of_durable(std::string_view durable);

/// As Broker::consume.
Result<std::unique_ptr<Consumer>> consume_from_nats(std::shared_ptr<NatsLink> link, const std::string& stream,
                                                    const std::string& prefix, const ConsumerSpec& spec);

// ---- administer (nats_administer.cpp)

struct NatsStream {
  std::string name;
  std::string subjects;
};

Result<void> ensure_on_nats(NatsLink& link, const NatsStream& stream, const StreamSpec& spec);
Result<BrokerFacts> inspect_nats(NatsLink& link, const std::string& stream);

/// Of this stream; none: it has no limit of its own, or cannot be asked.
std::optional<std::int64_t> max_message_bytes(NatsLink& link, const std::string& stream);

}  // namespace sluice::broker
