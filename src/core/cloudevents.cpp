#include "core/cloudevents.hpp"

#include <algorithm>
#include <string>

#include "core/characters.hpp"
#include "core/json.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"

namespace sluice::cloudevents {
namespace {

constexpr std::string_view kHeaderPrefix = "ce-";
constexpr std::size_t kContextMaxBytes = 63;

// The standard asks for lower-case letters and digits; names of any other kind are not attributes.
bool is_attribute_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || is_digit(c); });
}

// Some senders quote a value as HTTP allows for a header's parameters.
std::string unquoted(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::string{value};
  std::string out;
  for (std::size_t at = 1; at + 1 < value.size(); ++at) {
    if (value[at] == '\\' && at + 2 < value.size()) ++at;
    out += value[at];
  }
  return out;
}

Result<std::string> required(CloudEvent& event, std::string_view name) {
  const auto found = event.attributes.find(name);
  if (found == event.attributes.end() || found->second.empty()) {
    return invalid(std::string{name}, std::string{name} + " is a required attribute of a CloudEvent");
  }
  std::string value = std::move(found->second);
  event.attributes.erase(found);
  return value;
}

// Moves the required attributes to their places.
Result<CloudEvent> checked(CloudEvent event) {
  SLUICE_TRY(auto specversion, required(event, "specversion"));
  if (specversion != "1.0") return invalid("specversion", "specversion must be \"1.0\"");
  for (const auto& [name, into] : {std::pair{"id", &event.id}, {"source", &event.source}, {"type", &event.type}}) {
    SLUICE_TRY(*into, required(event, name));
  }
  return event;
}

Result<std::string> attribute_text(const json::Part& member, json::Kind kind) {
  switch (kind) {
    case json::Kind::string:
      return json::string_value(member.value, member.name);
    case json::Kind::number:
    case json::Kind::boolean:
      return std::string{member.value};
    default:
      return invalid(member.name, member.name + " must be a string, a number or a boolean");
  }
}

Result<void> take(CloudEvent& event, const json::Part& member) {
  const json::Kind kind = member.measure.kind;
  if (kind == json::Kind::null) return {};
  if (member.name == "data") {
    event.data = std::string{member.value};
    event.data_measure = member.measure;
    return {};
  }
  if (member.name != "data_base64" && !is_attribute_name(member.name)) {
    return invalid(member.name, "`" + member.name + "` is no attribute: their names are lower-case letters and digits");
  }
  SLUICE_TRY(auto text, attribute_text(member, kind));
  if (member.name == "data_base64") {
    event.data_base64 = std::move(text);
  } else {
    event.attributes.emplace(member.name, std::move(text));
  }
  return {};
}

Result<CloudEvent> decoded(json::Part outline) {
  SLUICE_TRY(const auto members, json::members_of(std::move(outline), "event"));
  CloudEvent event;
  for (const json::Part& member : members) {
    SLUICE_CHECK(take(event, member));
  }
  if (event.data && event.data_base64) {
    return invalid("data_base64", "data and data_base64 exclude each other; give one of them");
  }
  return checked(std::move(event));
}

}  // namespace

std::optional<std::string> CloudEvent::attribute(std::string_view name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::nullopt : std::optional{found->second};
}

Result<CloudEvent> decode_structured(std::string_view json) {
  SLUICE_TRY(auto outline, json::outline(json, "event"));
  return decoded(std::move(outline));
}

Result<std::vector<CloudEvent>> decode_batch(std::string_view json) {
  SLUICE_TRY(auto outline, json::outline(json, "events", [](int level, const json::Part&) { return level == 1; }));
  SLUICE_TRY(auto elements, json::elements_of(std::move(outline), "events"));
  std::vector<CloudEvent> events;
  events.reserve(elements.size());
  for (json::Part& element : elements) {
    auto event = decoded(std::move(element));
    if (!event) {
      Error error = std::move(event).error();
      error.field = "events[" + std::to_string(events.size()) + "]." + error.field;
      return error;
    }
    events.push_back(*std::move(event));
  }
  return events;
}

Result<CloudEvent> decode_binary(const std::map<std::string, std::string, std::less<>>& headers,
                                 std::string_view body) {
  CloudEvent event;
  for (auto header = headers.lower_bound(kHeaderPrefix); header != headers.end(); ++header) {
    const auto& [name, value] = *header;
    if (!name.starts_with(kHeaderPrefix)) break;
    const std::string attribute = name.substr(kHeaderPrefix.size());
    if (!is_attribute_name(attribute)) continue;
    std::string text = *percent_decoded(unquoted(value), BadEscape::kept);
    if (!utf8::is_valid(text)) return invalid(name, name + " must be percent-encoded UTF-8");
    event.attributes.emplace(attribute, std::move(text));
  }
  if (!body.empty()) event.data = std::string{body};
  return checked(std::move(event));
}

std::string context_of(std::string_view source) {
  if (const std::size_t slashes = source.find("://"); slashes != std::string_view::npos) {
    source.remove_prefix(slashes + 3);
  } else if (source.starts_with("urn:")) {
    source.remove_prefix(4);
  }
  std::string context;
  for (const char c : source) {
    const char lower = lower_case(c);
    if (is_lower(lower) || is_digit(lower)) {
      context += lower;
    } else if (!context.empty() && context.back() != '_') {
      context += '_';
    }
  }
  if (!context.empty() && is_digit(context.front())) context.insert(0, "source_");
  if (context.size() > kContextMaxBytes) context.resize(kContextMaxBytes);
  if (!context.empty() && context.back() == '_') context.pop_back();
  return context;
}

namespace {

struct Attribute {
  std::string_view name;
  std::string value;
  bool number = false;
};

// In both forms, in this order. What equals its default is left out.
std::vector<Attribute> attributes_of(const EventEnvelope& event) {
  std::vector<Attribute> attributes{{"specversion", "1.0"},
                                    {"id", event.event_id().to_string()},
                                    {"source", event.source()},
                                    {"type", event.event_type()},
                                    {"time", to_iso8601(event.occurred_at())}};
  if (event.trace_context()) attributes.push_back({"traceparent", *event.trace_context()});
  if (event.event_version() != 1) attributes.push_back({"sluiceversion", std::to_string(event.event_version()), true});
  if (event.target()) attributes.push_back({"sluicetarget", *event.target()});
  if (event.workspace_id()) attributes.push_back({"sluiceworkspace", event.workspace_id()->to_string()});
  if (event.idempotency_key() != event.event_id().to_string()) {
    attributes.push_back({"sluicekey", event.idempotency_key()});
  }
  return attributes;
}

// Space, `"`, `%` and whatever is not printable ASCII; each byte of a longer character for itself.
std::string percent_encoded(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(value.size());
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '"' && c != '%') {
      out += c;
      continue;
    }
    out.append(1, '%').append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 0xF]);
  }
  return out;
}

}  // namespace

std::string encode_structured(const EventEnvelope& event) {
  std::string out = "{";
  for (const Attribute& attribute : attributes_of(event)) {
    json::append_quoted(out, attribute.name);
    out += ':';
    if (attribute.number) {
      out += attribute.value;
    } else {
      json::append_quoted(out, attribute.value);
    }
    out += ',';
  }
  out += R"("datacontenttype":"application/json","data":)";
  out += event.payload();
  out += '}';
  return out;
}

std::string encode_batch(std::span<const EventEnvelope> events) {
  std::string out = "[";
  for (const EventEnvelope& event : events) {
    if (out.size() > 1) out += ',';
    out += encode_structured(event);
  }
  out += ']';
  return out;
}

std::vector<std::pair<std::string, std::string>> encode_binary_headers(const EventEnvelope& event) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const Attribute& attribute : attributes_of(event)) {
    headers.emplace_back("ce-" + std::string{attribute.name}, percent_encoded(attribute.value));
  }
  return headers;
}

}  // namespace sluice::cloudevents
