#include "ops/webhook.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "config/declared.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "crypto/digest.hpp"
#include "ops/publish_event.hpp"

namespace sluice::ops {
namespace {

using config::HookConfig;

constexpr std::size_t kDeliveryIdMaxBytes = 1024;

Error refused(std::string message, std::string field) {
  return {ErrorCode::forbidden, Retry::never, std::move(message), std::move(field), {}};
}

Result<std::string_view> signed_header(const WebhookDelivery& delivery, std::string_view name) {
  const auto found = delivery.headers.find(name);
  if (found == delivery.headers.end() || found->second.empty()) {
    return refused("the header " + std::string{name} + " is missing", std::string{name});
  }
  return std::string_view{found->second};
}

std::optional<std::string> header(const WebhookDelivery& delivery, std::string_view name) {
  const auto found = delivery.headers.find(name);
  return found == delivery.headers.end() ? std::nullopt : std::optional{found->second};
}

// Signatures stand in a list, separated by spaces, while secrets are rotated.
std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> found;
  for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    found.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return found;
}

// Every secret is tried with every signature, so that the time taken tells nothing about which of them fits.
bool any_fits(const HookConfig& hook, std::string_view content, const std::vector<std::string>& signatures) {
  bool fits = false;
  for (const config::Secret& secret : hook.secrets) {
    if (secret.empty()) continue;
    const crypto::Sha256 expected = crypto::hmac_sha256(secret.reveal(), content);
    const std::string_view bytes{reinterpret_cast<const char*>(expected.data()), expected.size()};
    for (const std::string& given : signatures) fits = crypto::equal(bytes, given) || fits;
  }
  return fits;
}

Result<void> check_signature(const HookConfig& hook, std::string_view content,
                             const std::vector<std::string>& signatures, std::string_view header_name) {
  if (any_fits(hook, content, signatures)) return {};
  return refused("the signature in " + std::string{header_name} + " does not fit the body and any known secret",
                 std::string{header_name});
}

Result<void> check_age(const HookConfig& hook, std::string_view text, std::string_view header_name, Timestamp now) {
  std::int64_t seconds = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr std::int64_t kFarthest = 253'402'300'799;  // the end of the year 9999
  if (status != std::errc{} || end != text.data() + text.size() || seconds < 0 || seconds > kFarthest) {
    return refused(std::string{header_name} + " must be a number of seconds since 1970", std::string{header_name});
  }
  const Timestamp signed_at{std::chrono::seconds{seconds}};
  const Duration apart = now > signed_at ? now - signed_at : signed_at - now;
  if (apart <= hook.tolerance) return {};
  return refused(
      std::string{header_name} + " is more than " + to_text(hook.tolerance) + " away from this server's clock",
      std::string{header_name});
}

// The standard puts the event's type into the body.
std::string type_in(std::string_view body) {
  const auto members = json::members(body, "body", {.depth = json::kMaxDepth});
  if (!members) return {};
  for (const json::Member& member : *members) {
    if (member.name != "type") continue;
    auto type = json::string_value(member.value, "type");
    return type ? *std::move(type) : std::string{};
  }
  return {};
}

Result<WebhookLabel> verify_standard(const HookConfig& hook, const WebhookDelivery& delivery) {
  SLUICE_TRY(const auto id, signed_header(delivery, "webhook-id"));
  SLUICE_TRY(const auto timestamp, signed_header(delivery, "webhook-timestamp"));
  SLUICE_TRY(const auto signature, signed_header(delivery, "webhook-signature"));
  constexpr std::string_view kVersion = "v1,";
  std::vector<std::string> given;
  for (const std::string_view word : words(signature)) {
    if (!word.starts_with(kVersion)) continue;
    if (auto bytes = crypto::from_base64(word.substr(kVersion.size()))) given.push_back(*std::move(bytes));
  }
  std::string content{id};
  content.append(".").append(timestamp).append(".").append(delivery.body);
  SLUICE_CHECK(check_signature(hook, content, given, "webhook-signature"));
  SLUICE_CHECK(check_age(hook, timestamp, "webhook-timestamp", delivery.now));
  return WebhookLabel{std::string{id}, type_in(delivery.body)};
}

Result<WebhookLabel> verify_github(const HookConfig& hook, const WebhookDelivery& delivery) {
  constexpr std::string_view kHeader = "x-hub-signature-256";
  constexpr std::string_view kAlgorithm = "sha256=";
  SLUICE_TRY(const auto signature, signed_header(delivery, kHeader));
  std::vector<std::string> given;
  if (signature.starts_with(kAlgorithm)) {
    if (auto bytes = crypto::from_hex(signature.substr(kAlgorithm.size()))) given.push_back(*std::move(bytes));
  }
  SLUICE_CHECK(check_signature(hook, delivery.body, given, kHeader));
  auto id = header(delivery, "x-github-delivery");
  if (!id || id->empty()) return invalid("x-github-delivery", "the header X-GitHub-Delivery is missing");
  return WebhookLabel{*std::move(id), header(delivery, "x-github-event").value_or("")};
}

Result<std::vector<std::string>> generic_signatures(const HookConfig& hook, const WebhookDelivery& delivery) {
  SLUICE_TRY(const auto signature, signed_header(delivery, hook.signature_header));
  std::string list{signature};
  std::replace(list.begin(), list.end(), ',', ' ');
  std::vector<std::string> given;
  for (std::string_view word : words(list)) {
    if (!word.starts_with(hook.signature_prefix)) continue;
    word.remove_prefix(hook.signature_prefix.size());
    auto bytes = hook.signature_base64 ? crypto::from_base64(word) : crypto::from_hex(word);
    if (bytes) given.push_back(*std::move(bytes));
  }
  return given;
}

Result<WebhookLabel> verify_hmac(const HookConfig& hook, const WebhookDelivery& delivery) {
  SLUICE_TRY(const auto given, generic_signatures(hook, delivery));
  std::string content;
  std::optional<std::string_view> timestamp;
  if (hook.timestamp_header) {
    SLUICE_TRY(const auto found, signed_header(delivery, *hook.timestamp_header));
    timestamp = found;
    content.append(found).append(".");
  }
  content.append(delivery.body);
  SLUICE_CHECK(check_signature(hook, content, given, hook.signature_header));
  if (timestamp) {
    SLUICE_CHECK(check_age(hook, *timestamp, *hook.timestamp_header, delivery.now));
  }
  WebhookLabel label;
  label.delivery_id =
      hook.id_header ? header(delivery, *hook.id_header).value_or("") : crypto::to_hex(crypto::sha256(delivery.body));
  if (label.delivery_id.empty()) return invalid(*hook.id_header, "the header " + *hook.id_header + " is missing");
  if (hook.event_header) label.event = header(delivery, *hook.event_header).value_or("");
  return label;
}

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

Result<void> take_payload(std::string body, PublishRequest& request) {
  SLUICE_TRY(const auto outline, json::outline(body, "body"));
  if (outline.measure.kind == json::Kind::object) {
    request.payload = std::move(body);
    request.payload_measure = outline.measure;
  } else {
    request.payload = JsonObject{}.raw("body", body).str();
  }
  return {};
}

}  // namespace

Result<WebhookLabel> verify_webhook(const HookConfig& hook, const WebhookDelivery& delivery) {
  Result<WebhookLabel> label = hook.kind == HookConfig::Kind::standard ? verify_standard(hook, delivery)
                               : hook.kind == HookConfig::Kind::github ? verify_github(hook, delivery)
                                                                       : verify_hmac(hook, delivery);
  if (label && label->delivery_id.size() > kDeliveryIdMaxBytes) {
    return invalid("delivery_id",
                   "the delivery's id must be at most " + std::to_string(kDeliveryIdMaxBytes) + " bytes");
  }
  return label;
}

std::string webhook_event_type(const HookConfig& hook, std::string_view event) {
  return config::event_type_of(hook, segments(event));
}

Result<PublishRequest> publish_request(const HookConfig& hook, const WebhookLabel& label, std::string json) {
  const ForeignName name{hook.source, label.delivery_id};
  PublishRequest request;
  SLUICE_CHECK(take_payload(std::move(json), request));
  request.event_type = webhook_event_type(hook, label.event);
  request.source = hook.source;
  request.target = hook.target;
  request.id = derived_id("webhook", name);
  if (std::string key = derived_key(name); !key.empty()) request.idempotency_key = std::move(key);
  return request;
}

}  // namespace sluice::ops
