#include "ops/publish_event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "core/json.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"
#include "crypto/digest.hpp"

namespace sluice::ops {
namespace {

using cloudevents::CloudEvent;
using Member = json::Part;

template <class T, class Into>
Result<void> keep(Result<T> parsed, Into& into) {
  if (!parsed) return std::move(parsed).error();
  into = *std::move(parsed);
  return {};
}

template <class Into>
Result<void> take_text(const Member& member, Into& into) {
  return keep(json::string_value(member.value, member.name), into);
}

template <class Parse, class Into>
Result<void> take_parsed(const Member& member, Parse parse, Into& into) {
  SLUICE_TRY(const auto text, json::string_value(member.value, member.name));
  return keep(parse(text, member.name), into);
}

template <class Number, class Into>
Result<void> take_number(const Member& member, Into& into) {
  Number number = 0;
  const char* end = member.value.data() + member.value.size();
  const auto [stop, status] = std::from_chars(member.value.data(), end, number);
  if (status != std::errc{} || stop != end) return invalid(member.name, member.name + " must be a whole number");
  into = number;
  return {};
}

Result<void> take_delay(const Member& member, PublishRequest& request) {
  if (member.value.starts_with('"')) return take_parsed(member, parse_duration, request.delay);
  return keep(parse_duration(member.value, member.name), request.delay);
}

struct Known {
  std::string_view name;
  Result<void> (*take)(const Member& member, PublishRequest& request);
};

constexpr std::array kKnown{
    Known{"event_type", [](const Member& m, PublishRequest& r) { return take_text(m, r.event_type); }},
    Known{"type", [](const Member& m, PublishRequest& r) { return take_text(m, r.event_type); }},
    Known{"event_version", [](const Member& m, PublishRequest& r) { return take_number<int>(m, r.event_version); }},
    Known{"event_id", [](const Member& m, PublishRequest& r) { return take_parsed(m, Uuid::parse, r.id); }},
    Known{"occurred_at",
          [](const Member& m, PublishRequest& r) { return take_parsed(m, parse_iso8601, r.occurred_at); }},
    Known{"source", [](const Member& m, PublishRequest& r) { return take_text(m, r.source); }},
    Known{"target", [](const Member& m, PublishRequest& r) { return take_text(m, r.target); }},
    Known{"workspace_id",
          [](const Member& m, PublishRequest& r) { return take_parsed(m, Uuid::parse, r.workspace_id); }},
    Known{"idempotency_key", [](const Member& m, PublishRequest& r) { return take_text(m, r.idempotency_key); }},
    Known{"trace_context", [](const Member& m, PublishRequest& r) { return take_text(m, r.trace_context); }},
    Known{"ordering_key", [](const Member& m, PublishRequest& r) { return take_text(m, r.ordering_key); }},
    Known{"content_class", [](const Member& m, PublishRequest& r) { return take_text(m, r.content_class); }},
    Known{"class", [](const Member& m, PublishRequest& r) { return take_text(m, r.processing_class); }},
    Known{"generation", [](const Member& m, PublishRequest& r) { return take_number<Generation>(m, r.generation); }},
    Known{"not_before", [](const Member& m, PublishRequest& r) { return take_parsed(m, parse_iso8601, r.not_before); }},
    Known{"delay", take_delay},
};

std::string names() {
  std::string text;
  for (const Known& known : kKnown) text.append(known.name).append(", ");
  return text + "payload";
}

Result<void> take(const Member& member, PublishRequest& request) {
  if (member.value == "null") return {};
  if (member.name == "payload") {
    request.payload = member.value;
    request.payload_measure = member.measure;
    return {};
  }
  const auto* known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& each) { return each.name == member.name; });
  if (known != kKnown.end()) return known->take(member, request);
  return invalid(member.name, "`" + member.name + "` is no member of an event; these are " + names());
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kAttributeOfField{{
    {"event_id", "id"},
    {"event_type", "type"},
    {"event_version", "sluiceversion"},
    {"occurred_at", "time"},
    {"payload", "data"},
    {"target", "sluicetarget"},
    {"idempotency_key", "sluicekey"},
    {"trace_context", "traceparent"},
    {"ordering_key", "partitionkey"},
}};

Result<void> take_id(const CloudEvent& event, PublishRequest& request) {
  if (event.source.find_first_of(" \t\r\n") != std::string::npos) {
    return invalid("source", "source must be a URI reference, which has no spaces");
  }
  if (const auto id = Uuid::parse(event.id); id && !id->is_nil()) {
    request.id = *id;
    return {};
  }
  const ForeignName name{event.source, event.id};
  request.id = derived_id("cloudevent", name);
  if (std::string key = derived_key(name); !key.empty()) request.idempotency_key = std::move(key);
  return {};
}

Result<void> take_source(const CloudEvent& event, PublishRequest& request) {
  request.source = event.attribute("sluicesource").value_or(cloudevents::context_of(event.source));
  if (!request.source.empty()) return {};
  return invalid("source", "source has no letter or digit to name a context by; give one as sluicesource");
}

Result<void> take_version(const CloudEvent& event, PublishRequest& request) {
  const auto text = event.attribute("sluiceversion");
  if (!text) return {};
  const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), request.event_version);
  if (status == std::errc{} && end == text->data() + text->size()) return {};
  return invalid("sluiceversion", "sluiceversion must be a whole number of at least 1");
}

Result<void> take_time(const CloudEvent& event, PublishRequest& request) {
  const auto text = event.attribute("time");
  if (!text) return {};
  SLUICE_TRY(request.occurred_at, parse_iso8601(*text, "time"));
  return {};
}

Result<void> take_workspace(const CloudEvent& event, PublishRequest& request) {
  const auto text = event.attribute("sluiceworkspace");
  if (!text) return {};
  SLUICE_TRY(request.workspace_id, Uuid::parse(*text, "sluiceworkspace"));
  return {};
}

Result<void> take_data(const CloudEvent& event, PublishRequest& request) {
  if (event.data_base64) {
    auto decoded = crypto::from_base64(*event.data_base64);
    if (!decoded) return invalid("data_base64", "data_base64 must be base64 with padding");
    request.payload = *std::move(decoded);
  } else if (event.data) {
    request.payload = *event.data;
    request.payload_measure = event.data_measure;
  }
  return {};
}

}  // namespace

Result<PublishRequest> publish_request(std::string_view json) {
  // The payload's own depth is checked with the other fields, where the error names the payload.
  SLUICE_TRY(auto outline, json::outline(json, "event"));
  return publish_request(std::move(outline));
}

Result<PublishRequest> publish_request(json::Part outline, std::string_view field) {
  SLUICE_TRY(const auto members, json::members_of(std::move(outline), field));
  PublishRequest request;
  int types = 0;
  for (const Member& member : members) {
    types += member.name == "type" || member.name == "event_type" ? 1 : 0;
    SLUICE_CHECK(take(member, request));
  }
  if (types > 1) return invalid("type", "type and event_type are the same; give one of them");
  return request;
}

Result<PublishRequest> publish_request(const CloudEvent& event) {
  PublishRequest request;
  request.event_type = event.type;
  request.target = event.attribute("sluicetarget");
  request.trace_context = event.attribute("traceparent");
  request.ordering_key = event.attribute("partitionkey");
  for (const auto take : {take_id, take_source, take_version, take_time, take_workspace, take_data}) {
    SLUICE_CHECK(take(event, request));
  }
  if (auto key = event.attribute("sluicekey")) request.idempotency_key = *std::move(key);
  return request;
}

Error in_terms_of_attributes(Error error) {
  for (const auto& [field, attribute] : kAttributeOfField) {
    if (error.field != field) continue;
    error.field = attribute;
    error.message = std::string{attribute} + ": " + error.message;
    break;
  }
  return error;
}

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
