#include "ops/cloudevent_request.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "crypto/digest.hpp"
#include "ops/derived_id.hpp"

namespace sluice::ops {
namespace {

using cloudevents::CloudEvent;

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
  const auto time = parse_iso8601(*text, "time");
  if (!time) return time.error();
  request.occurred_at = *time;
  return {};
}

Result<void> take_workspace(const CloudEvent& event, PublishRequest& request) {
  const auto text = event.attribute("sluiceworkspace");
  if (!text) return {};
  const auto id = Uuid::parse(*text, "sluiceworkspace");
  if (!id) return id.error();
  request.workspace_id = *id;
  return {};
}

Result<void> take_data(const CloudEvent& event, PublishRequest& request) {
  if (event.data_base64) {
    auto decoded = crypto::from_base64(*event.data_base64);
    if (!decoded) return invalid("data_base64", "data_base64 must be base64 with padding");
    request.payload = *std::move(decoded);
  } else if (event.data) {
    request.payload = *event.data;
  }
  return {};
}

}  // namespace

Result<PublishRequest> publish_request(const CloudEvent& event) {
  PublishRequest request;
  request.event_type = event.type;
  request.target = event.attribute("sluicetarget");
  request.trace_context = event.attribute("traceparent");
  request.ordering_key = event.attribute("partitionkey");
  for (const auto take : {take_id, take_source, take_version, take_time, take_workspace, take_data}) {
    if (auto taken = take(event, request); !taken) return std::move(taken).error();
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

}  // namespace sluice::ops
