#include "broker/nats/nats.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

constexpr std::string_view kPublishing = "publish to NATS";

// A literal subject: tokens that are not empty, no wildcards, no white space.
bool is_subject(std::string_view text) {
  const auto is_bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '*' || c == '>' || c == 0x7F; };
  return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos &&
         std::none_of(text.begin(), text.end(), is_bad);
}

bool is_header_text(std::string_view text) { return text.find_first_of(std::string_view{"\r\n\0", 3}) == text.npos; }

Result<void> check(const OutgoingMessage& message) {
  if (!is_subject(message.address)) {
    return invalid("address",
                   "`" + printable(message.address) +
                       "` is no NATS subject: write words of printable characters joined by '.', without '*' and '>'");
  }
  for (const auto& [name, value] : message.headers) {
    if (!is_header_text(name) || !is_header_text(value)) {
      return invalid("headers", "the header " + printable(name) + " holds a line break; take it out");
    }
  }
  return {};
}

Result<NatsMsg> written(const OutgoingMessage& message, const std::string& reply) {
  natsMsg* raw = nullptr;
  natsStatus status = natsMsg_Create(&raw, message.address.c_str(), reply.c_str(), message.body.data(),
                                     static_cast<int>(message.body.size()));
  NatsMsg made{raw};
  if (status == NATS_OK && !message.id.empty()) status = natsMsgHeader_Set(raw, "Nats-Msg-Id", message.id.c_str());
  for (const auto& [name, value] : message.headers) {
    if (status == NATS_OK) status = natsMsgHeader_Set(raw, name.c_str(), value.c_str());
  }
  if (status != NATS_OK) return error_of(status, kPublishing, Retry::safe);
  return made;
}

Error too_large(const OutgoingMessage& message, std::string limit) {
  return {ErrorCode::invalid, Retry::never,
          "the message has " + std::to_string(message.body.size()) + " bytes and its headers, and " + std::move(limit),
          "body", "raise the limit, or publish a smaller payload"};
}

Error not_sent(natsStatus status, natsConnection* connection, const OutgoingMessage& message) {
  if (status != NATS_MAX_PAYLOAD) return error_of(status, kPublishing, Retry::safe);
  return too_large(message, "NATS takes no more than " + std::to_string(natsConnection_GetMaxPayload(connection)) +
                                " bytes: max_payload of nats-server");
}

Error no_stream(const OutgoingMessage& message) {
  return {ErrorCode::not_found,
          Retry::safe,
          "no JetStream stream takes the subject " + message.address,
          {},
          "create a stream for it: nats stream add --subjects '" + message.address + "'"};
}

// What JetStream answers to a publish: {"stream":"S","seq":1,"duplicate":true} or {"error":{…},"stream":"S"}.
struct PubAck {
  std::string stream;
  bool duplicate = false;
  bool refused = false;
  int code = 0;
  std::string reason;
};

void read_refusal(std::string_view object, PubAck& ack) {
  ack.refused = true;
  const auto members = json::members(object, "error");
  if (!members) return;
  for (const json::Member& member : *members) {
    if (member.name == "err_code") {
      std::from_chars(member.value.data(), member.value.data() + member.value.size(), ack.code);
    }
    if (member.name != "description") continue;
    if (auto text = json::string_value(member.value, "description")) ack.reason = *std::move(text);
  }
}

Result<PubAck> read_ack(std::string_view text) {
  PubAck ack;
  SLUICE_TRY(const auto members, json::members(text, "answer"));
  for (const json::Member& member : members) {
    if (member.name == "stream") {
      SLUICE_TRY(ack.stream, json::string_value(member.value, "stream"));
    }
    if (member.name == "duplicate") ack.duplicate = member.value == "true";
    if (member.name == "error") read_refusal(member.value, ack);
  }
  return ack;
}

Error refusal(NatsLink& link, const PubAck& ack, const OutgoingMessage& message) {
  const std::string reason = ack.reason.empty() ? "error " + std::to_string(ack.code) : printable(ack.reason);
  if (ack.code == JSStreamMessageExceedsMaximumErr) {
    const auto most = max_message_bytes(link, ack.stream);
    return too_large(message, "the stream " + ack.stream + " takes no more than " +
                                  (most ? std::to_string(*most) + " bytes" : std::string{"it is told"}) +
                                  ": its max_msg_size");
  }
  Error error{ErrorCode::unavailable, Retry::safe, "JetStream did not take the message: " + reason, {}, {}};
  if (ack.code == JSStreamStoreFailedErr || ack.code == JSInsufficientResourcesErr ||
      ack.code == JSStorageResourcesExceededErr || ack.code == JSAccountResourcesExceededErr) {
    error.code = ErrorCode::exhausted;
    error.hint = "the stream or its server is full: raise its limits; a message that was handled still takes room";
  }
  return error;
}

Result<Taken> outcome(NatsLink& link, natsMsg* answer, const OutgoingMessage& message) {
  const std::string_view text{natsMsg_GetData(answer), static_cast<std::size_t>(natsMsg_GetDataLength(answer))};
  const auto ack = read_ack(text);
  // Somebody answers, and it is no stream: whether the message is kept nobody knows.
  if (!ack || (!ack->refused && ack->stream.empty())) {
    return Error{ErrorCode::internal,
                 Retry::in_doubt,
                 "somebody else than JetStream answered on the subject " + message.address,
                 {},
                 "let only a stream subscribe to it"};
  }
  if (ack->refused) return refusal(link, *ack, message);
  return Taken{ack->duplicate};
}

Error no_answer(const NatsExchange& exchange) {
  if (exchange.connection_broke()) {
    return {ErrorCode::unavailable, Retry::in_doubt, "the connection to NATS broke before it answered", {}, {}};
  }
  return {ErrorCode::timeout, Retry::in_doubt, "NATS did not answer in time", {}, {}};
}

}  // namespace

std::vector<Result<Taken>> publish_on_nats(NatsLink& link, std::span<const OutgoingMessage> messages, Duration deadline,
                                           const std::stop_token& stop) {
  const auto until = NatsExchange::Clock::now() + deadline;
  const auto all = [&](const Error& error) { return std::vector<Result<Taken>>(messages.size(), error); };
  if (messages.empty()) return {};
  const auto connection = link.connected();
  if (!connection) return all(connection.error());
  auto exchange = NatsExchange::begin(*connection, messages.size(), until, stop);
  if (!exchange) return all(exchange.error());

  std::vector<std::optional<Error>> unsent(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (auto checked = check(messages[i]); !checked) {
      unsent[i] = checked.error();
      continue;
    }
    const auto message = written(messages[i], exchange->reply_subject(i));
    if (!message) {
      unsent[i] = message.error();
    } else if (const natsStatus status = exchange->send(message->get()); status != NATS_OK) {
      unsent[i] = not_sent(status, connection->get(), messages[i]);
    }
  }
  exchange->gather();

  std::vector<Result<Taken>> outcomes;
  outcomes.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (unsent[i]) {
      outcomes.emplace_back(*unsent[i]);
    } else if (natsMsg* answer = exchange->answer(i)) {
      outcomes.push_back(outcome(link, answer, messages[i]));
    } else if (exchange->nobody_listens()) {
      outcomes.emplace_back(no_stream(messages[i]));
    } else {
      outcomes.emplace_back(no_answer(*exchange));
    }
  }
  return outcomes;
}

}  // namespace sluice::broker
