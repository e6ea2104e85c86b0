#include <string>

#include "core/cloudevents.hpp"
#include "core/json.hpp"

namespace sluice::cloudevents {
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
