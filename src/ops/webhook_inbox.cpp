#include "ops/webhook_inbox.hpp"

#include <utility>

#include "config/hook_events.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "ops/derived_id.hpp"

namespace sluice::ops {
namespace {

using config::HookConfig;

constexpr std::string_view kUnnamed = "received";
constexpr std::size_t kEventMaxBytes = 128;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// `Invoice.Paid` is `invoice.paid`, `check run!` is `check_run_`; dots that would leave a segment empty are dropped.
std::string segments(std::string_view event) {
  std::string out;
  for (char c : event.substr(0, kEventMaxBytes)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '.') {
      if (!out.empty() && out.back() != '.') out += '.';
    } else {
      out += is_lower_or_digit(c) ? c : '_';
    }
  }
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out.empty() ? std::string{kUnnamed} : out;
}

Result<std::string> payload_of(std::string body) {
  const auto kind = json::check(body, "body", {.depth = json::kMaxDepth});
  if (!kind) return kind.error();
  if (*kind == json::Kind::object) return body;
  return JsonObject{}.raw("body", body).str();
}

}  // namespace

std::string webhook_event_type(const HookConfig& hook, std::string_view event) {
  return config::event_type_of(hook, segments(event));
}

Result<PublishRequest> publish_request(const HookConfig& hook, const WebhookLabel& label, std::string json) {
  auto payload = payload_of(std::move(json));
  if (!payload) return std::move(payload).error();
  const ForeignName name{hook.source, label.delivery_id};
  PublishRequest request;
  request.event_type = webhook_event_type(hook, label.event);
  request.source = hook.source;
  request.target = hook.target;
  request.payload = *std::move(payload);
  request.id = derived_id("webhook", name);
  if (std::string key = derived_key(name); !key.empty()) request.idempotency_key = std::move(key);
  return request;
}

}  // namespace sluice::ops
