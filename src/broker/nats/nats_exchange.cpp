#include "broker/nats/nats.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/try.hpp"

namespace sluice::broker {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::optional<std::size_t> number_behind(std::string_view subject, std::size_t inbox_bytes) {
  if (subject.size() <= inbox_bytes + 1) return std::nullopt;
  const std::string_view digits = subject.substr(inbox_bytes + 1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<std::string> make_inbox() {
  natsInbox* raw = nullptr;
  if (const natsStatus status = natsInbox_Create(&raw); status != NATS_OK) {
    return error_of(status, "make a reply subject", Retry::safe);
  }
  std::string inbox{raw};
  natsInbox_Destroy(raw);
  return inbox;
}

NatsExchange::NatsExchange(NatsConnection connection, std::size_t requests, Clock::time_point deadline,
                           std::stop_token stop)
    : connection_(std::move(connection)), answers_(requests), deadline_(deadline), stop_(std::move(stop)) {}

Result<NatsExchange> NatsExchange::begin(const NatsConnection& connection, std::size_t requests,
                                         Clock::time_point deadline, std::stop_token stop) {
  NatsExchange exchange{connection, requests, deadline, std::move(stop)};
  SLUICE_TRY(exchange.inbox_, make_inbox());
  natsSubscription* raw = nullptr;
  const std::string all = exchange.inbox_ + ".*";
  const natsStatus status = natsConnection_SubscribeSync(&raw, connection.get(), all.c_str());
  if (status != NATS_OK) return error_of(status, "wait for answers", Retry::safe);
  exchange.subscription_.reset(raw);
  natsSubscription_SetPendingLimits(raw, -1, -1);
  return exchange;
}

natsStatus NatsExchange::send(natsMsg* message) {
  while (unanswered_ >= kWindow && gather_one()) {
  }
  if (broke_ || unanswered_ >= kWindow) return broke_ ? NATS_CONNECTION_DISCONNECTED : NATS_TIMEOUT;
  if (!is_up(connection_)) {
    broke_ = true;
    return NATS_CONNECTION_DISCONNECTED;
  }
  const natsStatus status = natsConnection_PublishMsg(connection_.get(), message);
  if (status == NATS_OK) ++unanswered_;
  return status;
}

bool NatsExchange::gather_one() {
  while (true) {
    const auto left = duration_cast<milliseconds>(deadline_ - Clock::now());
    natsMsg* raw = nullptr;
    const auto wait = std::clamp(left, milliseconds{0}, kNatsGlance);
    const natsStatus status = natsSubscription_NextMsg(&raw, subscription_.get(), wait.count());
    if (status == NATS_OK) {
      NatsMsg message{raw};
      const auto number = number_behind(natsMsg_GetSubject(raw), inbox_.size());
      if (!number || *number >= answers_.size() || answers_[*number]) continue;
      answers_[*number] = std::move(message);
      --unanswered_;
      return true;
    }
    // libnats keeps back which request it was. When all are answered, it is those without an answer.
    if (status == NATS_NO_RESPONDERS) {
      no_listeners_ = true;
      --unanswered_;
      return true;
    }
    broke_ = status != NATS_TIMEOUT || !is_up(connection_);
    if (broke_ || left <= milliseconds{0} || stop_.stop_requested()) return false;
  }
}

void NatsExchange::gather() {
  while (unanswered_ > 0 && gather_one()) {
  }
}

}  // namespace sluice::broker
