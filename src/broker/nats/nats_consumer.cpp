#include "broker/nats/nats.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/generation.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A request lives at least so long, however short the caller's wait is.
constexpr milliseconds kLeastExpiry{200};
// After its end a request's own end should have been told; then it is taken for lost.
constexpr milliseconds kExpiryGrace{500};
// One may be lost with a leader; after so many in a row nobody is there to answer.
constexpr int kUnanswered = 2;

// One durable consumer, and what it has been asked for.
struct Lane {
  std::optional<int> shard;
  std::string durable;
  std::uint64_t request = 0;    // the number of the latest
  std::size_t outstanding = 0;  // of it: messages that may still come
  Clock::time_point expires_at{};
  int unanswered = 0;    // requests in a row whose end was not told either
  bool deleted = false;  // the server has said so
};

// `$JS.ACK.<stream>.<consumer>.<delivered>.…`; newer servers put domain and account behind `ACK`.
struct AckSubject {
  std::string_view consumer;
  std::int64_t delivered = 1;
};
std::optional<AckSubject> read_ack_subject(std::string_view subject) {
  const auto tokens = split(subject, '.');
  constexpr std::size_t kOld = 9;
  if (tokens.size() < kOld || tokens[0] != "$JS" || tokens[1] != "ACK") return std::nullopt;
  const std::size_t at = tokens.size() == kOld ? 3 : 5;
  AckSubject read{tokens[at], 1};
  std::from_chars(tokens[at + 1].data(), tokens[at + 1].data() + tokens[at + 1].size(), read.delivered);
  return read;
}

Headers headers_of(natsMsg* message) {
  Headers headers;
  const char** names = nullptr;
  int count = 0;
  if (natsMsgHeader_Keys(message, &names, &count) != NATS_OK) return headers;
  for (int i = 0; i < count; ++i) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(message, names[i], &value) == NATS_OK) headers.emplace_back(names[i], value);
  }
  free(names);  // NOLINT: libnats has allocated the array
  return headers;
}

std::string payload_of(const Settlement& settlement) {
  switch (settlement.what) {
    case Settlement::What::done:
      return "+ACK";
    case Settlement::What::progress:
      return "+WPI";
    case Settlement::What::retry:
      break;
  }
  const auto delay = duration_cast<nanoseconds>(settlement.delay).count();
  return delay > 0 ? "-NAK {\"delay\":" + std::to_string(delay) + "}" : "-NAK";
}

// The one filter that a consumer can have on nats-server 2.9: exact, or whole tokens followed by everything.
std::string filter_of(const std::string& lane, const std::vector<std::string>& event_types) {
  std::string all = lane + ".>";
  if (event_types.size() != 1) return all;
  const std::string& type = event_types.front();
  if (type.find('*') == std::string::npos) return lane + '.' + type;
  if (type.ends_with(".*")) return lane + '.' + type.substr(0, type.size() - 1) + '>';
  return all;
}

// `3_billing-mailer`, of a shard `3-7_billing-mailer`: a durable's name has no dot, and a handler's has no hyphen.
std::string durable_name(std::string_view lane, std::string handler) {
  std::replace(handler.begin(), handler.end(), '.', '-');
  return std::string{lane} + '_' + handler;
}

Duration expiry_until(Clock::time_point deadline) {
  return std::max<Duration>(duration_cast<Duration>(deadline - Clock::now()), kLeastExpiry);
}

class NatsConsumer final : public Consumer {
 public:
  NatsConsumer(std::shared_ptr<NatsLink> link, std::string stream, std::vector<Lane> lanes)
      : link_(std::move(link)), stream_(std::move(stream)), lanes_(std::move(lanes)) {}

  ~NatsConsumer() override { give_back(); }

  Result<std::vector<IncomingMessage>> fetch(std::size_t most, Duration wait, const std::stop_token& stop) override {
    const auto deadline = Clock::now() + wait;
    std::vector<IncomingMessage> messages;
    while (messages.size() < most && !stop.stop_requested()) {
      if (auto ready = listen(); !ready) {
        if (messages.empty()) return ready.error();
        break;
      }
      if (std::any_of(lanes_.begin(), lanes_.end(), is_gone)) {
        if (messages.empty()) return gone();
        break;
      }
      SLUICE_CHECK(ask(most - messages.size(), expiry_until(deadline)));
      const auto left = duration_cast<milliseconds>(deadline - Clock::now());
      const auto glance = messages.empty() ? std::clamp(left, milliseconds{0}, kNatsGlance) : milliseconds{0};
      natsMsg* raw = nullptr;
      const natsStatus status = natsSubscription_NextMsg(&raw, subscription_.get(), glance.count());
      if (status == NATS_OK) {
        take(NatsMsg{raw}, messages);
      } else if (status == NATS_NO_RESPONDERS) {
        for (Lane& lane : lanes_) lane.outstanding = 0;
        if (messages.empty()) return gone();
        break;
      } else if (status != NATS_TIMEOUT) {
        subscription_.reset();
      } else if (!messages.empty() || left <= milliseconds{0}) {
        break;
      }
    }
    return messages;
  }

  std::vector<Result<void>> settle(std::span<const Settlement> settlements, Duration deadline) override {
    const auto until = Clock::now() + deadline;
    const auto all = [&](const Error& error) { return std::vector<Result<void>>(settlements.size(), error); };
    if (settlements.empty()) return {};
    const auto connection = link_->connected();
    if (!connection) return all(connection.error());
    auto exchange = NatsExchange::begin(*connection, settlements.size(), until, {});
    if (!exchange) return all(exchange.error());
    for (std::size_t i = 0; i < settlements.size(); ++i) send(*exchange, settlements[i], i);
    exchange->gather();
    std::vector<Result<void>> outcomes;
    outcomes.reserve(settlements.size());
    for (std::size_t i = 0; i < settlements.size(); ++i) outcomes.push_back(outcome(*exchange, i));
    return outcomes;
  }

 private:
  static void send(NatsExchange& exchange, const Settlement& settlement, std::size_t nth) {
    const std::string payload = payload_of(settlement);
    const std::string subject{settlement.token};
    natsMsg* raw = nullptr;
    const auto reply = exchange.reply_subject(nth);
    if (natsMsg_Create(&raw, subject.c_str(), reply.c_str(), payload.data(), static_cast<int>(payload.size())) ==
        NATS_OK) {
      exchange.send(NatsMsg{raw}.get());
    }
  }

  static Result<void> outcome(const NatsExchange& exchange, std::size_t nth) {
    if (exchange.answer(nth) != nullptr) return {};
    if (exchange.nobody_listens()) return gone();
    return Error{exchange.connection_broke() ? ErrorCode::unavailable : ErrorCode::timeout,
                 Retry::in_doubt,
                 "NATS did not confirm what became of the message",
                 {},
                 {}};
  }

  static Error gone() {
    return {ErrorCode::not_found, Retry::safe, "the consumer is gone from its stream, or has no leader yet", {}, {}};
  }

  // A consumer ends each request, and tells those that it has when it is deleted. Whoever asks it later hears nothing.
  static bool is_gone(const Lane& lane) { return lane.deleted || lane.unanswered >= kUnanswered; }

  // A subscription on a connection that is up. What was asked for on an earlier one is lost with it.
  Result<void> listen() {
    SLUICE_TRY(const NatsConnection connection, link_->connected());
    if (subscription_ && connection == connection_) return {};
    SLUICE_TRY(inbox_, make_inbox());
    natsSubscription* raw = nullptr;
    const natsStatus status = natsConnection_SubscribeSync(&raw, connection.get(), (inbox_ + ".*.*").c_str());
    if (status != NATS_OK) return error_of(status, "subscribe to an inbox", Retry::safe);
    subscription_.reset(raw);
    natsSubscription_SetPendingLimits(raw, -1, -1);
    connection_ = connection;
    for (Lane& lane : lanes_) lane.outstanding = 0;
    for (Lane& lane : lanes_) lane.unanswered = 0;
    return {};
  }

  // Every lane has one request under way: that without a key for all that are wanted, a shard for one.
  Result<void> ask(std::size_t wanted, Duration expiry) {
    const auto now = Clock::now();
    int unread = 0;
    const bool all_was_read =
        natsSubscription_GetPending(subscription_.get(), &unread, nullptr) == NATS_OK && unread == 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[i];
      if (lane.outstanding > 0 && now < lane.expires_at + kExpiryGrace) continue;
      if (lane.outstanding > 0 && all_was_read) ++lane.unanswered;
      ++lane.request;
      lane.outstanding = lane.shard ? 1 : wanted;
      lane.expires_at = now + expiry;
      const std::string subject = "$JS.API.CONSUMER.MSG.NEXT." + stream_ + '.' + lane.durable;
      const std::string reply = inbox_ + '.' + std::to_string(i) + '.' + std::to_string(lane.request);
      const std::string body = "{\"batch\":" + std::to_string(lane.outstanding) +
                               ",\"expires\":" + std::to_string(duration_cast<nanoseconds>(expiry).count()) + "}";
      const natsStatus status = natsConnection_PublishRequest(connection_.get(), subject.c_str(), reply.c_str(),
                                                              body.data(), static_cast<int>(body.size()));
      if (status != NATS_OK) return error_of(status, "ask for messages", Retry::safe);
    }
    return {};
  }

  void take(const NatsMsg& message, std::vector<IncomingMessage>& messages) {
    natsMsg* raw = message.get();
    if (is_status(raw)) return request_ended(raw);
    const char* token = natsMsg_GetReply(raw);
    const auto ack = read_ack_subject(token == nullptr ? "" : token);
    if (!ack) return;
    IncomingMessage taken;
    for (Lane& lane : lanes_) {
      if (lane.durable != ack->consumer) continue;
      taken.shard = lane.shard;
      lane.unanswered = 0;
      if (lane.outstanding > 0) --lane.outstanding;
    }
    taken.address = natsMsg_GetSubject(raw);
    taken.headers = headers_of(raw);
    taken.id = value_of(taken.headers, "Nats-Msg-Id").value_or("");
    taken.body.assign(natsMsg_GetData(raw), static_cast<std::size_t>(natsMsg_GetDataLength(raw)));
    taken.delivered = ack->delivered;
    taken.token = token;
    messages.push_back(std::move(taken));
  }

  // 404, 408 and 409: the request has got all that it will.
  void request_ended(natsMsg* message) {
    const auto tokens = split(std::string_view{natsMsg_GetSubject(message)}, '.');
    if (tokens.size() < 2) return;
    const std::string_view number = tokens[tokens.size() - 2];
    std::size_t at = lanes_.size();
    std::from_chars(number.data(), number.data() + number.size(), at);
    if (at >= lanes_.size()) return;
    Lane& lane = lanes_[at];
    lane.unanswered = 0;
    const char* why = nullptr;
    lane.deleted = lane.deleted || (natsMsgHeader_Get(message, "Description", &why) == NATS_OK &&
                                    std::string_view{why}.find("Consumer Deleted") != std::string_view::npos);
    if (std::to_string(lane.request) == tokens.back()) lane.outstanding = 0;
  }

  // What came and nobody fetched goes to the others at once.
  void give_back() {
    natsMsg* raw = nullptr;
    while (subscription_ && natsSubscription_NextMsg(&raw, subscription_.get(), 0) == NATS_OK) {
      const NatsMsg message{raw};
      if (const char* token = natsMsg_GetReply(raw)) natsConnection_PublishString(connection_.get(), token, "-NAK");
    }
  }

  const std::shared_ptr<NatsLink> link_;
  const std::string stream_;
  std::vector<Lane> lanes_;
  NatsConnection connection_;
  std::string inbox_;
  NatsSubscription subscription_;
};

struct DurableSpec {
  const std::string& stream;
  const std::string& filter;
  const Lane& lane;
  const ConsumerSpec& spec;
};

Result<void> ensure_durable(jsCtx* context, const DurableSpec& durable) {
  jsConsumerConfig config;
  jsConsumerConfig_Init(&config);
  config.Durable = durable.lane.durable.c_str();
  config.DeliverPolicy = js_DeliverAll;
  config.AckPolicy = js_AckExplicit;
  config.AckWait = duration_cast<nanoseconds>(durable.spec.ack_wait).count();
  config.MaxDeliver = -1;
  config.FilterSubject = durable.filter.c_str();
  config.MaxAckPending = durable.lane.shard ? 1 : durable.spec.max_unsettled;
  jsErrCode code{};
  const natsStatus status = js_AddConsumer(nullptr, context, durable.stream.c_str(), &config, nullptr, &code);
  if (status == NATS_OK) return {};
  if (code == JSStreamNotFoundErr) {
    return Error{ErrorCode::not_found,
                 Retry::safe,
                 "there is no JetStream stream " + durable.stream,
                 {},
                 "start the relay, which creates it"};
  }
  return error_of(status, code, "open the consumer " + durable.lane.durable);
}

}  // namespace

std::string lane_subject(std::string_view prefix, std::int64_t generation, std::optional<int> shard) {
  std::string subject = std::string{prefix} + '.' + std::to_string(generation);
  if (shard) subject += '-' + std::to_string(*shard);
  return subject;
}

std::optional<DurableOwner> owner_of_durable(std::string_view durable) {
  const std::size_t end = durable.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view lane = durable.substr(0, end);
  DurableOwner owner;
  const auto read = std::from_chars(lane.data(), lane.data() + lane.size(), owner.generation);
  if (read.ec != std::errc{}) return std::nullopt;
  if (read.ptr != lane.data() + lane.size() && *read.ptr != '-') return std::nullopt;
  owner.handler_name = durable.substr(end + 1);
  std::replace(owner.handler_name.begin(), owner.handler_name.end(), '-', '.');
  if (!check_handler_name(owner.handler_name)) return std::nullopt;
  return owner;
}

Result<std::unique_ptr<Consumer>> consume_from_nats(std::shared_ptr<NatsLink> link, const std::string& stream,
                                                    const std::string& prefix, const ConsumerSpec& spec) {
  SLUICE_TRY(const NatsConnection connection, link->connected());
  SLUICE_TRY(const NatsContext context, link->jetstream(connection));
  std::vector<Lane> lanes;
  for (int shard = -1; shard < spec.shards; ++shard) {
    Lane lane;
    if (shard >= 0) lane.shard = shard;
    const std::string subject = lane_subject(prefix, spec.generation, lane.shard);
    lane.durable = durable_name(subject.substr(prefix.size() + 1), spec.handler_name);
    const std::string filter = filter_of(subject, spec.event_types);
    SLUICE_CHECK(ensure_durable(context.get(), {stream, filter, lane, spec}));
    lanes.push_back(std::move(lane));
  }
  return std::unique_ptr<Consumer>{std::make_unique<NatsConsumer>(std::move(link), stream, std::move(lanes))};
}

}  // namespace sluice::broker
