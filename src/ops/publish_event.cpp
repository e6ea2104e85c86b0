#include "ops/publish_event.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/try.hpp"
#include "core/utf8.hpp"
#include "crypto/digest.hpp"

namespace sluice::ops {
namespace {

constexpr std::chrono::seconds kGenerationAge{5};

constexpr std::size_t kKeyMaxBytes = 255;

// With its length in front no two lists of parts read the same.
void append_part(std::string& text, std::string_view part) {
  text.append(std::to_string(part.size())).append(":").append(part);
}

}  // namespace

Result<store::NewEvent> EventPublishing::prepare(PublishRequest request, Generation generation) {
  if (request.not_before && request.delay) {
    return invalid("delay", "a delay and a point in time exclude each other; give one of them");
  }
  if (request.ordering_key && request.ordering_key->empty()) {
    return invalid("ordering_key", "ordering_key must not be empty; leave it out for no order");
  }
  if (request.content_class.empty()) return invalid("content_class", "content_class must not be empty");
  SLUICE_TRY(auto channel, compose_channel(generation, request.processing_class));

  const Timestamp now = entropy_.clock();
  EnvelopeDraft draft;
  draft.event_id = request.id ? *request.id : ids_.next(now, entropy_.random());
  draft.event_type = std::move(request.event_type);
  draft.event_version = request.event_version;
  draft.occurred_at = request.occurred_at.value_or(now);
  draft.source = std::move(request.source);
  draft.target = std::move(request.target);
  draft.workspace_id = request.workspace_id;
  draft.payload = std::move(request.payload);
  draft.idempotency_key = std::move(request.idempotency_key);
  draft.trace_context = std::move(request.trace_context);
  SLUICE_TRY(auto envelope, request.payload_measure ? make_measured(std::move(draft), limits_, *request.payload_measure)
                                                    : EventEnvelope::make(std::move(draft), limits_));

  return store::NewEvent{std::move(envelope),
                         generation,
                         std::move(channel),
                         std::move(request.content_class),
                         std::move(request.ordering_key),
                         request.not_before,
                         request.delay};
}

Result<void> GenerationCheck::operator()(const store::NewEvent& event) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock{mutex_};
    const auto known = known_.find(event.generation);
    if (known != known_.end() && now - known->second < kGenerationAge) return {};
  }
  SLUICE_CHECK(look(event));
  const std::lock_guard lock{mutex_};
  known_[event.generation] = now;
  return {};
}

Result<void> GenerationCheck::look(const store::NewEvent& event) {
  SLUICE_TRY(const auto exists, store_.generation_exists(event.generation));
  if (!exists) return no_such_generation(event.generation);
  const auto deployments = store_.deployments();
  // A publisher's role may publish and not look around.
  if (!deployments && deployments.error().code == ErrorCode::forbidden) return {};
  if (!deployments) return deployments.error();
  const bool retired = std::any_of(deployments->begin(), deployments->end(), [&](const store::Deployment& one) {
    return one.generation == event.generation && one.state == GenerationState::retired;
  });
  if (!retired) return {};
  const auto stored = store_.get_event(event.envelope.event_id());
  if (stored || stored.error().code != ErrorCode::not_found) {
    return stored ? Result<void>{} : Result<void>{stored.error()};
  }
  return Error{ErrorCode::conflict,
               Retry::never,
               "generation " + std::to_string(event.generation) + " is retired: publish to a live one",
               "generation",
               {}};
}

Result<Published> publish_event(store::Publishing& store, const store::NewEvent& event) {
  auto outcomes = store.publish(std::span{&event, 1});
  if (outcomes) return Published{event, outcomes->front()};
  Error error = std::move(outcomes).error();
  if (error.retry == Retry::in_doubt) {
    error.message = "unknown: the answer to COMMIT was lost; publishing the same id again is safe";
    error.hint = "publish again with --id " + event.envelope.event_id().to_string();
  }
  return error;
}

Result<store::NewEvent> stored_event(store::Administering& store, const Uuid& id) {
  SLUICE_TRY(auto record, store.get_event(id));
  return store::NewEvent{std::move(record.envelope),
                         record.generation,
                         std::move(record.channel),
                         std::move(record.content_class),
                         std::move(record.ordering_key),
                         std::nullopt,
                         std::nullopt};
}

Uuid derived_id(std::string_view kind, const ForeignName& name) {
  std::string text;
  append_part(text, kind);
  append_part(text, name.sender);
  append_part(text, name.id);
  const crypto::Sha256 digest = crypto::sha256(text);
  Uuid id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0FU) | 0x80U);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3FU) | 0x80U);
  return id;
}

std::string derived_key(const ForeignName& name) {
  std::string key{name.sender};
  key.append(" ").append(name.id);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool fits = key.size() <= kKeyMaxBytes && utf8::is_valid(key) &&
                    std::none_of(key.begin(), key.end(), is_control) && name.sender.find(' ') == std::string_view::npos;
  return fits ? key : std::string{};
}

}  // namespace sluice::ops
