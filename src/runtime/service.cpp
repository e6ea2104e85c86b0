#include "runtime/service.hpp"

#include <exception>

namespace sluice::runtime {

namespace {

Result<Duration> guarded_round(const Service& service, const std::stop_token& stop) {
  try {
    return service.round(stop);
  } catch (const std::exception& thrown) {
    return Error{ErrorCode::internal, Retry::safe, thrown.what(), {}, {}};
  }
}

}  // namespace

void log_error(const telemetry::Logger& logger, std::string_view message, const Error& error) {
  logger.error(message, {{"error", error.message},
                         {"code", name(error.code)},
                         {"retry", name(error.retry)},
                         {"hint", error.hint.empty() ? std::nullopt : std::optional{error.hint}}});
}

void run_service(const std::stop_token& stop, const Service& service, const ServiceEnvironment& environment) {
  Backoff backoff{environment.backoff};
  while (!stop.stop_requested()) {
    const std::uint64_t seen = environment.signal.count();
    const Result<Duration> rest = guarded_round(service, stop);
    if (!rest) {
      log_error(environment.logger, service.name + " round failed, backing off", rest.error());
      environment.signal.sleep(stop, backoff.next());
      continue;
    }
    backoff.reset();
    if (*rest <= Duration::zero()) continue;
    const bool woken = environment.signal.rest(stop, *rest, seen);
    if (!woken && service.polled && !stop.stop_requested()) service.polled();
  }
  if (service.finish) service.finish();
}

}  // namespace sluice::runtime
