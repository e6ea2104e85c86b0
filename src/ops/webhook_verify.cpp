#include "ops/webhook_verify.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/json.hpp"
#include "crypto/digest.hpp"

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
  const auto id = signed_header(delivery, "webhook-id");
  if (!id) return id.error();
  const auto timestamp = signed_header(delivery, "webhook-timestamp");
  if (!timestamp) return timestamp.error();
  const auto signature = signed_header(delivery, "webhook-signature");
  if (!signature) return signature.error();
  constexpr std::string_view kVersion = "v1,";
  std::vector<std::string> given;
  for (const std::string_view word : words(*signature)) {
    if (!word.starts_with(kVersion)) continue;
    if (auto bytes = crypto::from_base64(word.substr(kVersion.size()))) given.push_back(*std::move(bytes));
  }
  std::string content{*id};
  content.append(".").append(*timestamp).append(".").append(delivery.body);
  if (auto checked = check_signature(hook, content, given, "webhook-signature"); !checked) {
    return std::move(checked).error();
  }
  if (auto checked = check_age(hook, *timestamp, "webhook-timestamp", delivery.now); !checked) {
    return std::move(checked).error();
  }
  return WebhookLabel{std::string{*id}, type_in(delivery.body)};
}

Result<WebhookLabel> verify_github(const HookConfig& hook, const WebhookDelivery& delivery) {
  constexpr std::string_view kHeader = "x-hub-signature-256";
  constexpr std::string_view kAlgorithm = "sha256=";
  const auto signature = signed_header(delivery, kHeader);
  if (!signature) return signature.error();
  std::vector<std::string> given;
  if (signature->starts_with(kAlgorithm)) {
    if (auto bytes = crypto::from_hex(signature->substr(kAlgorithm.size()))) given.push_back(*std::move(bytes));
  }
  if (auto checked = check_signature(hook, delivery.body, given, kHeader); !checked) return std::move(checked).error();
  auto id = header(delivery, "x-github-delivery");
  if (!id || id->empty()) return invalid("x-github-delivery", "the header X-GitHub-Delivery is missing");
  return WebhookLabel{*std::move(id), header(delivery, "x-github-event").value_or("")};
}

Result<std::vector<std::string>> generic_signatures(const HookConfig& hook, const WebhookDelivery& delivery) {
  const auto signature = signed_header(delivery, hook.signature_header);
  if (!signature) return signature.error();
  std::string list{*signature};
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
  const auto given = generic_signatures(hook, delivery);
  if (!given) return given.error();
  std::string content;
  std::optional<std::string_view> timestamp;
  if (hook.timestamp_header) {
    const auto found = signed_header(delivery, *hook.timestamp_header);
    if (!found) return found.error();
    timestamp = *found;
    content.append(*found).append(".");
  }
  content.append(delivery.body);
  if (auto checked = check_signature(hook, content, *given, hook.signature_header); !checked) {
    return std::move(checked).error();
  }
  if (timestamp) {
    auto checked = check_age(hook, *timestamp, *hook.timestamp_header, delivery.now);
    if (!checked) return std::move(checked).error();
  }
  WebhookLabel label;
  label.delivery_id =
      hook.id_header ? header(delivery, *hook.id_header).value_or("") : crypto::to_hex(crypto::sha256(delivery.body));
  if (label.delivery_id.empty()) return invalid(*hook.id_header, "the header " + *hook.id_header + " is missing");
  if (hook.event_header) label.event = header(delivery, *hook.event_header).value_or("");
  return label;
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

}  // namespace sluice::ops
