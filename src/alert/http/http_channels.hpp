// The alert channels that speak HTTP, as the settings ask for them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alert/alert_channel.hpp"

namespace sluice::alert {

struct SentrySettings {
  std::string endpoint;  ///< `https://sentry.example.com/api/42/envelope/`
  std::string public_key;
};

struct WebhookSettings {
  std::string url;
  std::string token;  ///< empty: none is sent
};

struct HttpChannelSettings {
  std::optional<SentrySettings> sentry;
  std::optional<WebhookSettings> webhook;
  std::string service;
  std::string environment;
};

/// One per receiver that is set; none when nothing is. Nothing is connected yet.
std::vector<std::unique_ptr<AlertChannel>> open_http_channels(const HttpChannelSettings& settings);

}  // namespace sluice::alert
