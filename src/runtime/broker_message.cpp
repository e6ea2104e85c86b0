#include "runtime/broker_message.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

constexpr std::string_view kGeneration = "Sluice-Generation";
constexpr std::string_view kChannel = "Sluice-Channel";
constexpr std::string_view kReplay = "Sluice-Replay";
constexpr std::string_view kKey = "Sluice-Ordering-Key";
constexpr std::string_view kAttempts = "Sluice-Attempts";
constexpr std::string_view kProgress = "Sluice-Progress";
constexpr int kDeepestPayload = 1000;  // it was checked when it was published

Result<std::int64_t> number_in(const broker::Headers& headers, std::string_view name) {
  const auto text = broker::value_of(headers, name);
  if (!text) return std::int64_t{0};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc{} && end == text->data() + text->size()) return number;
  return invalid(std::string{name}, "header " + std::string{name} + " must be a number");
}

}  // namespace

broker::OutgoingMessage to_message(const store::ClaimedEvent& event, std::int64_t replay, const MessageTerms& terms) {
  broker::OutgoingMessage message;
  std::optional<int> shard;
  if (event.ordering_key) shard = broker::shard_of(*event.ordering_key, terms.shards);
  message.address = terms.broker.address(event.generation, shard, event.envelope.event_type());
  message.id = event.envelope.event_id().to_string() + ':' + std::to_string(replay);
  const auto add = [&](std::string_view name, std::string value) {
    message.headers.emplace_back(std::string{name}, std::move(value));
  };
  add(kGeneration, std::to_string(event.generation));
  add(kChannel, event.channel);
  if (replay > 0) add(kReplay, std::to_string(replay));
  if (event.ordering_key) add(kKey, *event.ordering_key);
  if (event.attempts > 0) add(kAttempts, std::to_string(event.attempts));
  if (!event.progress.empty()) add(kProgress, progress_to_json(event.progress));
  message.body = event.envelope.to_json();
  return message;
}

Result<RelayedMessage> from_message(const broker::IncomingMessage& message) {
  SLUICE_TRY(auto envelope,
             EventEnvelope::from_json(message.body,
                                      {static_cast<std::size_t>(store::kReadablePayloadBytes), kDeepestPayload}));
  SLUICE_TRY(const auto generation, number_in(message.headers, kGeneration));
  if (generation < kFirstGeneration) {
    return invalid(std::string{kGeneration}, "header " + std::string{kGeneration} + " is missing");
  }
  SLUICE_TRY(const auto replay, number_in(message.headers, kReplay));
  SLUICE_TRY(const auto attempts, number_in(message.headers, kAttempts));
  SLUICE_TRY(auto progress, progress_from_json(broker::value_of(message.headers, kProgress).value_or("")));
  store::ClaimedEvent event{std::move(envelope), {}, generation, {}, {}, static_cast<int>(attempts), {}, {}};
  event.claim.event_id = event.envelope.event_id();
  event.channel = broker::value_of(message.headers, kChannel).value_or("");
  if (const auto key = broker::value_of(message.headers, kKey)) event.ordering_key = std::string{*key};
  event.progress = std::move(progress);
  return RelayedMessage{std::move(event), replay};
}

}  // namespace sluice::runtime
