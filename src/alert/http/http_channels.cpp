#include "alert/http/http_channels.hpp"

#include <utility>

#include "alert/http/http_post.hpp"
#include "alert/http/http_verdict.hpp"
#include "alert/http/sentry_envelope.hpp"
#include "alert/http/webhook_body.hpp"
#include "core/redact.hpp"

namespace sluice::alert {
namespace {

constexpr const char* kVersion = SLUICE_VERSION;

Timestamp now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

Result<Sent> post(const HttpRequest& request, const std::stop_token& stop) {
  const auto answer = http_post(request, stop);
  if (!answer) return answer.error();
  return verdict_of(*answer, now());
}

std::string user_agent() { return std::string{"sluice/"} + kVersion; }

class SentryChannel final : public AlertChannel {
 public:
  SentryChannel(SentrySettings settings, Sender sender) : settings_(std::move(settings)), sender_(std::move(sender)) {}

  [[nodiscard]] std::string_view name() const override { return "sentry"; }
  [[nodiscard]] std::string display() const override { return redact_address(settings_.endpoint); }

  Result<Sent> send(const Alert& alert, const std::stop_token& stop) override {
    HttpRequest request;
    request.url = settings_.endpoint;
    request.headers = {{"Content-Type", "application/x-sentry-envelope"},
                       {"User-Agent", user_agent()},
                       {"X-Sentry-Auth", "Sentry sentry_version=7, sentry_client=" + user_agent() +
                                             ", sentry_key=" + settings_.public_key}};
    request.body = sentry_envelope(alert, sender_, now());
    return post(request, stop);
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
    HttpRequest request;
    request.url = settings_.url;
    request.headers = {{"Content-Type", "application/json"}, {"User-Agent", user_agent()}};
    if (!settings_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + settings_.token);
    request.body = webhook_body(alert, sender_);
    return post(request, stop);
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
