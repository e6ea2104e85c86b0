#include "cli/publish_log.hpp"

#include <ostream>

#include "telemetry/log.hpp"

namespace sluice::cli {
namespace {

telemetry::LogFormat format(const Session& session, config::LogFormat wanted) {
  const bool text =
      wanted == config::LogFormat::text || (wanted == config::LogFormat::automatic && session.console().out_is_tty);
  return text ? telemetry::LogFormat::human : telemetry::LogFormat::json;
}

}  // namespace

void log_published(const Session& session, const config::Config& config, const ops::Published& published) {
  if (!session.arguments().has("--verbose")) return;
  std::ostream& err = session.console().err;
  telemetry::LogOptions options;
  options.format = format(session, config.log.format);
  options.clock = session.adapters().entropy.clock;
  const EventEnvelope& event = published.event.envelope;
  const telemetry::Logger logger{[&err](std::string_view line) { err << line; },
                                 std::move(options),
                                 {config.service, config.environment, published.event.generation, std::nullopt}};
  telemetry::log_published(logger, event, published.outcome == store::PublishOutcome::published);
}

}  // namespace sluice::cli
