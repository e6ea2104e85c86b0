// What the brokers' own clients do with the same messages: the limits for the relay and its consumers.
#include <hiredis/hiredis.h>
#include <nats/nats.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench/bench.hpp"
#include "broker/open_broker.hpp"
#include "runtime/broker_message.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kWindow = 500;
constexpr std::int64_t kFetchMs = 10'000;

void check(natsStatus status) {
  if (status == NATS_OK) return;
  std::fprintf(stderr, "%s\n", natsStatus_GetText(status));
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

redisReply* check(redisContext* context) {
  void* reply = nullptr;
  if (redisGetReply(context, &reply) == REDIS_OK && static_cast<redisReply*>(reply)->type != REDIS_REPLY_ERROR) {
    return static_cast<redisReply*>(reply);
  }
  std::fprintf(stderr, "%s\n", reply == nullptr ? context->errstr : static_cast<redisReply*>(reply)->str);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

void answered(redisContext* context) { freeReplyObject(check(context)); }

// As the relay publishes them.
std::vector<broker::OutgoingMessage> messages_of(const Options& options, std::int64_t count) {
  const auto broker = must(broker::open_broker({.urls = {options.text("broker", "")}}));
  must(broker->ensure({}));
  std::vector<broker::OutgoingMessage> messages;
  for (store::NewEvent& event : sample_events(static_cast<std::size_t>(count))) {
    store::ClaimedEvent claimed{std::move(event.envelope), {}, 1, event.channel, {}, 0, {}, {}};
    messages.push_back(runtime::to_message(claimed, 0, {*broker, 16}));
  }
  return messages;
}

class RawNats {
 public:
  explicit RawNats(const Options& options) {
    check(natsConnection_ConnectTo(&connection_, options.text("broker", "").c_str()));
    check(natsConnection_JetStream(&context_, connection_, nullptr));
  }

  void publish(const std::vector<broker::OutgoingMessage>& messages) {
    for (const broker::OutgoingMessage& message : messages) {
      natsMsg* made = nullptr;
      check(natsMsg_Create(&made, message.address.c_str(), nullptr, message.body.data(),
                           static_cast<int>(message.body.size())));
      for (const auto& [name, value] : message.headers) check(natsMsgHeader_Set(made, name.c_str(), value.c_str()));
      jsPubOptions options;
      jsPubOptions_Init(&options);
      options.MsgId = message.id.c_str();
      check(js_PublishMsgAsync(context_, &made, &options));
    }
    check(js_PublishAsyncComplete(context_, nullptr));
  }

  void consume(std::int64_t count) {
    natsSubscription* subscription = nullptr;
    check(js_PullSubscribe(&subscription, context_, "sluice.>", "raw", nullptr, nullptr, nullptr));
    while (count > 0) {
      natsMsgList list{};
      check(natsSubscription_Fetch(&list, subscription, kWindow, kFetchMs, nullptr));
      for (int i = 0; i < list.Count; ++i) check(natsMsg_Ack(list.Msgs[i], nullptr));
      count -= list.Count;
      natsMsgList_Destroy(&list);
    }
    check(natsConnection_Flush(connection_));
  }

 private:
  natsConnection* connection_ = nullptr;
  jsCtx* context_ = nullptr;
};

class RawRedis {
 public:
  explicit RawRedis(const Options& options) {
    const std::string url = options.text("broker", "");
    const auto colon = url.rfind(':');
    context_ = redisConnect(url.substr(8, colon - 8).c_str(), std::atoi(url.c_str() + colon + 1));
  }

  void publish(const std::vector<broker::OutgoingMessage>& messages) {
    for (std::size_t from = 0; from < messages.size(); from += kWindow) {
      const std::size_t to = std::min(messages.size(), from + kWindow);
      for (std::size_t i = from; i < to; ++i) add(messages[i]);
      for (std::size_t i = from; i < to; ++i) answered(context_);
    }
  }

  void consume(std::int64_t count) {
    redisAppendCommand(context_, "XGROUP CREATE sluice:1 raw 0");
    answered(context_);
    while (count > 0) {
      redisAppendCommand(context_, "XREADGROUP GROUP raw one COUNT %d STREAMS sluice:1 >", static_cast<int>(kWindow));
      redisReply* read = check(context_);
      const redisReply& entries = *read->element[0]->element[1];
      for (std::size_t i = 0; i < entries.elements; ++i) {
        redisAppendCommand(context_, "XACK sluice:1 raw %s", entries.element[i]->element[0]->str);
      }
      for (std::size_t i = 0; i < entries.elements; ++i) answered(context_);
      count -= static_cast<std::int64_t>(entries.elements);
      freeReplyObject(read);
    }
  }

 private:
  void add(const broker::OutgoingMessage& message) {
    std::vector<std::string> words{"XADD", message.address, "*", "id", message.id, "data", message.body};
    for (const auto& [name, value] : message.headers) {
      words.push_back(name);
      words.push_back(value);
    }
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_, static_cast<int>(words.size()), texts.data(), sizes.data());
  }
  redisContext* context_ = nullptr;
};

template <class Client>
int measure(const Options& options, bool consumes) {
  const std::int64_t count = options.number("events", 200'000);
  const auto messages = messages_of(options, count);
  Client client{options};
  auto start = Clock::now();
  client.publish(messages);
  if (consumes) {
    start = Clock::now();
    client.consume(count);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report(consumes ? "raw-consume" : "raw-relay", static_cast<double>(count) / seconds, "events/s");
  return 0;
}

int measure(const Options& options, bool consumes) {
  const bool redis = options.text("broker", "").starts_with("redis");
  return redis ? measure<RawRedis>(options, consumes) : measure<RawNats>(options, consumes);
}

}  // namespace

int raw_relay(const Options& options) { return measure(options, false); }
int raw_consume(const Options& options) { return measure(options, true); }

}  // namespace sluice::bench
