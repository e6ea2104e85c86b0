// Whether a webhook really comes from its provider: the signature over the body as it came. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "config/declared.hpp"

namespace sluice::ops {

struct WebhookDelivery {
  const std::map<std::string, std::string, std::less<>>& headers;  ///< names in lower case
  std::string_view body;                                           ///< as it came: the signature is over these bytes
  Timestamp now{};
};

/// What a genuine delivery calls itself.
struct WebhookLabel {
  std::string delivery_id;  ///< the provider's; the same for each repetition
  std::string event;        ///< the provider's word for what happened, as it came; empty when it has none
};

/// An error of code `forbidden` means: not signed as it should be, or signed too long ago (or ahead). Signatures are
/// compared in constant time, and any of the hook's secrets will do. `invalid`: genuine, but without a usable id.
Result<WebhookLabel> verify_webhook(const config::HookConfig& hook, const WebhookDelivery& delivery);

}  // namespace sluice::ops
