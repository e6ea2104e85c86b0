#include "alert/http/http_channels.hpp"

#include <utility>

#include "alert/http/alert_body.hpp"
#include "alert/http/http_verdict.hpp"
#include "core/redact.hpp"
#include "host/entropy.hpp"
#include "http_client/http_client.hpp"

namespace sluice::alert {
namespace {

constexpr const char* kVersion = SLUICE_VERSION;

std::string user_agent() { return std::string{"sluice/"} + kVersion; }

http_client::HttpClientOptions client_options(const std::string& url, std::string content_type) {
  http_client::HttpClientOptions options;
  options.url = url;
  options.headers = {"Content-Type: " + std::move(content_type), "User-Agent: " + user_agent()};
  options.connect_timeout = std::chrono::seconds{3};
  options.timeout = std::chrono::seconds{10};
  options.kept_headers = {"retry-after", "x-sentry-rate-limits"};
  return options;
}

// An alert is rare: no thread and no connection waits for the next one.
Result<Sent> post(const http_client::HttpClientOptions& options, const std::string& body, const std::stop_token& stop) {
  return verdict_of(http_client::HttpClient{options}.post(body, stop), host::wall_clock());
}

class SentryChannel final : public AlertChannel {
 public:
  SentryChannel(SentrySettings settings, Sender sender) : settings_(std::move(settings)), sender_(std::move(sender)) {}

  [[nodiscard]] std::string_view name() const override { return "sentry"; }
  [[nodiscard]] std::string display() const override { return redact_address(settings_.endpoint); }

  Result<Sent> send(const Alert& alert, const std::stop_token& stop) override {
    auto options = client_options(settings_.endpoint, "application/x-sentry-envelope");
    options.headers.push_back("X-Sentry-Auth: Sentry sentry_version=7, sentry_client=" + user_agent() +
                              ", sentry_key=" + settings_.public_key);
    return post(options, sentry_envelope(alert, sender_, host::wall_clock()), stop);
  }

 private:
  SentrySettings settings_;
  Sender sender_;
};

class WebhookChannel final : public AlertChannel {
 public:
  WebhookChannel(WebhookSettings settings, Sender sender)
      : settings_(std::move(settings)), sender_(std::move(sender)) {}

  [[nodiscard]] std::string_view name() const override { return "webhook"; }
  [[nodiscard]] std::string display() const override { return redact_address(settings_.url); }

  Result<Sent> send(const Alert& alert, const std::stop_token& stop) override {
    auto options = client_options(settings_.url, "application/json");
    if (!settings_.token.empty()) options.headers.push_back("Authorization: Bearer " + settings_.token);
    return post(options, webhook_body(alert, sender_), stop);
  }

 private:
  WebhookSettings settings_;
  Sender sender_;
};

}  // namespace

std::vector<std::unique_ptr<AlertChannel>> open_http_channels(const HttpChannelSettings& settings) {
  const Sender sender{settings.service, settings.environment, kVersion};
  std::vector<std::unique_ptr<AlertChannel>> channels;
  if (settings.sentry) channels.push_back(std::make_unique<SentryChannel>(*settings.sentry, sender));
  if (settings.webhook) channels.push_back(std::make_unique<WebhookChannel>(*settings.webhook, sender));
  return channels;
}

}  // namespace sluice::alert
