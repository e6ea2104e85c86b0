#include "sink/http/request.hpp"

#include <algorithm>
#include <chrono>

#include "core/cloudevents.hpp"
#include "core/generation.hpp"
#include "crypto/digest.hpp"

namespace sluice::sink {
namespace {

std::string signature_of(std::string_view content, const std::vector<std::string>& keys) {
  std::string signatures;
  for (const std::string& key : keys) {
    signatures += signatures.empty() ? "v1," : " v1,";
    signatures += crypto::to_base64(crypto::hmac_sha256(key, content));
  }
  return signatures;
}

void append_body(std::string& content, const EventEnvelope& event, BodyFormat format) {
  switch (format) {
    case BodyFormat::envelope:
      content += event.to_json();
      return;
    case BodyFormat::cloudevents_binary:
      content += event.payload();
      return;
    case BodyFormat::cloudevents_structured:
      content += cloudevents::encode_structured(event);
      return;
  }
}

// The last line of defence: whatever is in a row, a value never begins another header. One that is no header value is
// left out; the body carries it, quoted.
void append_header(std::vector<std::string>& lines, std::string_view name, std::string_view value) {
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; };
  if (std::any_of(value.begin(), value.end(), is_control)) return;
  lines.push_back(std::string{name}.append(": ").append(value));
}

}  // namespace

DeliveryRequest::DeliveryRequest(const EventEnvelope& event, const RequestRules& rules, Timestamp now)
    : signed_at_(now) {
  const std::string id = event.event_id().to_string();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const std::string timestamp = std::to_string(seconds);
  content_.reserve(id.size() + timestamp.size() + 2 + event.payload().size());
  content_.append(id).append(1, '.').append(timestamp).append(1, '.');
  body_at_ = content_.size();
  append_body(content_, event, rules.format);
  append_header(headers_, "webhook-id", id);
  append_header(headers_, "webhook-timestamp", timestamp);
  if (!rules.keys.empty()) append_header(headers_, "webhook-signature", signature_of(content_, rules.keys));
  if (rules.format == BodyFormat::cloudevents_binary) {
    for (const auto& [name, value] : cloudevents::encode_binary_headers(event)) append_header(headers_, name, value);
  } else if (event.trace_context() && check_trace_context(*event.trace_context())) {
    append_header(headers_, "traceparent", *event.trace_context());
  }
}

void DeliveryRequest::pass_on(std::string_view traceparent) {
  std::erase_if(headers_, [](const std::string& line) { return line.starts_with("traceparent:"); });
  append_header(headers_, "traceparent", traceparent);
}

std::vector<std::string> fixed_headers(BodyFormat format, std::string_view version,
                                       const std::vector<std::pair<std::string, std::string>>& own) {
  const bool structured = format == BodyFormat::cloudevents_structured;
  std::vector<std::string> lines{
      "content-type: " + (structured ? std::string{cloudevents::kStructured} : std::string{"application/json"}),
      "user-agent: sluice/" + std::string{version},
      // Without these libcurl would add its own.
      "Expect:", "Accept:"};
  for (const auto& [name, value] : own) append_header(lines, name, value);
  return lines;
}

}  // namespace sluice::sink
