// sluice alert: does anybody hear when an event fails?
#include <ostream>
#include <stop_token>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/failure.hpp"
#include "ops/json_object.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kClass = "AlertTest";
constexpr std::string_view kMessage = "this is a test; nothing has failed";

Alert test_alert(const host::Entropy& entropy) {
  const Timestamp now = entropy.clock();
  Alert alert;
  alert.alert_id = make_uuid_v7(now, entropy.random());
  alert.failure.event_id = make_uuid_v7(now, entropy.random());
  alert.failure.event_type = "sluice.alert.test";
  alert.failure.source = "sluice";
  alert.failure.handler_name = "sluice.alert_test";
  alert.failure.error_class = kClass;
  alert.failure.fingerprint = fingerprint(kClass, kMessage);
  alert.failure.last_error = std::string{kClass} + ": " + std::string{kMessage};
  alert.failure.failed_at = now;
  return alert;
}

Error nothing_configured() {
  Error error =
      invalid("alerts.sentry_dsn", "no alert receiver is configured: set alerts.sentry_dsn or alerts.webhook_url");
  error.hint = "in the environment they are SLUICE_SENTRY_DSN and SLUICE_ALERT_WEBHOOK_URL";
  return error;
}

struct Attempt {
  bool sent = false;
  std::string said;
};

Attempt attempt(alert::AlertChannel& channel, const Alert& alert) {
  const auto sent = channel.send(alert, std::stop_token{});
  if (!sent) return {false, sent.error().message};
  if (sent->accepted) return {true, "the receiver answered " + sent->answer};
  return {false, "the receiver answered " + sent->answer +
                     (sent->retry_after ? "; try again in " + to_text(*sent->retry_after) : "")};
}

Result<Exit> test(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  const auto channels = session.adapters().alert_channels(*config);
  if (channels.empty()) return nothing_configured();
  const Alert alert = test_alert(session.adapters().entropy);
  bool all = true;
  std::vector<std::string> texts;
  Table table{"CHANNEL", "RECEIVER", "RESULT", "DETAIL"};
  for (const auto& channel : channels) {
    const auto [sent, said] = attempt(*channel, alert);
    all = all && sent;
    const std::string_view result = sent ? "sent" : "failed";
    texts.push_back(ops::JsonObject{}
                        .text("channel", channel->name())
                        .text("receiver", channel->display())
                        .text("result", result)
                        .text("detail", said)
                        .str());
    if (session.format() == Format::ndjson) session.out() << texts.back() << '\n';
    table.row({std::string{channel->name()}, channel->display(), std::string{result}, said});
  }
  if (session.format() == Format::json) {
    session.out() << ops::JsonObject{}.uuid("alert_id", alert.alert_id).array("channels", texts).str() << '\n';
  }
  if (session.format() == Format::table) table.print(session.out(), session.console().color);
  return all ? Exit::ok : Exit::failed;
}

}  // namespace

std::vector<Command> alert_commands() {
  return {
      {{"alert", "test"},
       "send one test alert to each configured receiver and say what came of it",
       {{"sluice alert test", ""}, {"sluice alert test -o json | jq '.channels[] | select(.result != \"sent\")'", ""}},
       {},
       {},
       false,
       false,
       test}};
}

}  // namespace sluice::cli
