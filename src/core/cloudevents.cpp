#include "core/cloudevents.hpp"

#include <algorithm>

#include "core/characters.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"

namespace sluice::cloudevents {
namespace {

constexpr std::string_view kHeaderPrefix = "ce-";
constexpr std::size_t kContextMaxBytes = 63;

// The standard asks for lower-case letters and digits; names of any other kind are not attributes.
bool is_attribute_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || is_digit(c); });
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = lower_case(c);
  return lower >= 'a' && lower <= 'f' ? std::optional{lower - 'a' + 10} : std::nullopt;
}

// A percent sign that begins no escape stands for itself.
std::string percent_decoded(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (std::size_t at = 0; at < value.size(); ++at) {
    const bool escape = value[at] == '%' && at + 2 < value.size();
    const auto high = escape ? hex_digit(value[at + 1]) : std::nullopt;
    const auto low = escape ? hex_digit(value[at + 2]) : std::nullopt;
    if (!high || !low) {
      out += value[at];
      continue;
    }
    out += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  return out;
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
  auto specversion = required(event, "specversion");
  if (!specversion) return std::move(specversion).error();
  if (*specversion != "1.0") return invalid("specversion", "specversion must be \"1.0\"");
  for (const auto& [name, into] : {std::pair{"id", &event.id}, {"source", &event.source}, {"type", &event.type}}) {
    auto value = required(event, name);
    if (!value) return std::move(value).error();
    *into = *std::move(value);
  }
  return event;
}

Result<std::string> attribute_text(const json::Member& member, json::Kind kind) {
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

Result<void> take(CloudEvent& event, const json::Member& member) {
  const auto kind = json::check(member.value, member.name, {.depth = json::kMaxDepth});
  if (!kind) return kind.error();
  if (*kind == json::Kind::null) return {};
  if (member.name == "data") {
    event.data = std::string{member.value};
    return {};
  }
  if (member.name != "data_base64" && !is_attribute_name(member.name)) {
    return invalid(member.name, "`" + member.name + "` is no attribute: their names are lower-case letters and digits");
  }
  auto text = attribute_text(member, *kind);
  if (!text) return std::move(text).error();
  if (member.name == "data_base64") {
    event.data_base64 = *std::move(text);
  } else {
    event.attributes.emplace(member.name, *std::move(text));
  }
  return {};
}

}  // namespace

std::optional<std::string> CloudEvent::attribute(std::string_view name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::nullopt : std::optional{found->second};
}

Result<CloudEvent> decode_structured(std::string_view json) {
  const auto members = json::members(json, "event", {.depth = json::kMaxDepth});
  if (!members) return members.error();
  CloudEvent event;
  for (const json::Member& member : *members) {
    if (auto taken = take(event, member); !taken) return std::move(taken).error();
  }
  if (event.data && event.data_base64) {
    return invalid("data_base64", "data and data_base64 exclude each other; give one of them");
  }
  return checked(std::move(event));
}

Result<std::vector<CloudEvent>> decode_batch(std::string_view json) {
  const auto elements = json::elements(json, "events", {.depth = json::kMaxDepth});
  if (!elements) return elements.error();
  std::vector<CloudEvent> events;
  events.reserve(elements->size());
  for (const std::string_view element : *elements) {
    auto event = decode_structured(element);
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
    std::string text = percent_decoded(unquoted(value));
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

}  // namespace sluice::cloudevents
