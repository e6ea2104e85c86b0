#include "ops/publish_request_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/json.hpp"

namespace sluice::ops {
namespace {

using json::Member;

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
  const auto text = json::string_value(member.value, member.name);
  if (!text) return text.error();
  return keep(parse(*text, member.name), into);
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
    return {};
  }
  const auto* known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& each) { return each.name == member.name; });
  if (known != kKnown.end()) return known->take(member, request);
  return invalid(member.name, "`" + member.name + "` is no member of an event; these are " + names());
}

}  // namespace

Result<PublishRequest> publish_request(std::string_view json) {
  // The payload's own depth is checked with the other fields, where the error names the payload.
  const auto members = json::members(json, "event", {.depth = json::kMaxDepth});
  if (!members) return members.error();
  return publish_request(*members);
}

Result<PublishRequest> publish_request(std::span<const json::Member> members) {
  PublishRequest request;
  int types = 0;
  for (const Member& member : members) {
    types += member.name == "type" || member.name == "event_type" ? 1 : 0;
    if (auto taken = take(member, request); !taken) return std::move(taken).error();
  }
  if (types > 1) return invalid("type", "type and event_type are the same; give one of them");
  return request;
}

}  // namespace sluice::ops
