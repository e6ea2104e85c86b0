#include "config/config.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "config/declare.hpp"
#include "config/gather.hpp"
#include "config/key_table.hpp"
#include "core/try.hpp"

namespace sluice::config {
namespace {

// The error of a group names the group's keys, not the members of a struct.
Result<void> check_group(Result<void> checked, const std::string& group, const std::string& hint) {
  if (checked) return checked;
  Error error = std::move(checked).error();
  error.field = group;
  error.message = group + ": " + error.message;
  error.hint = hint;
  return error;
}

Result<void> check_bounds(const RetryPolicy& policy, const std::string& group) {
  if (policy.cap < policy.base) {
    return invalid(group + ".max", group + ".max (" + to_text(policy.cap) + ") must be at least " + group + ".base (" +
                                       to_text(policy.base) + ')');
  }
  return check_group(policy.validate(), group, "`sluice config explain " + group + ".base` shows where it comes from");
}

// Containers change their host name with every start, so a service that was given a name goes by it. Links are not
// followed: a file that is exchanged by its link stays the same file.
std::string declarer_of(const Settings& settings, const std::string& hostname) {
  const Candidate& service = settings.of("service").winner();
  std::string name = "serve:" + (service.origin == Origin::standard ? hostname : service.value) + ':';
  if (!settings.file) return name;
  std::error_code unknown;
  const auto path = std::filesystem::absolute(*settings.file, unknown);
  return name + (unknown ? *settings.file : path.lexically_normal().string());
}

}  // namespace

Result<Config> resolve(const Settings& settings) {
  Config config;
  for (const Setting& setting : settings.all) {
    const Candidate& winner = setting.winner();
    SLUICE_CHECK(setting.key->apply(config, {winner.value, winner.where}));
  }
  SLUICE_CHECK(check_bounds(config.retry, "retry"));
  SLUICE_CHECK(check_bounds(config.inbox_retry, "inbox.retry"));
  SLUICE_CHECK(check_group(config.retention.validate(), "retention",
                           "raise retention.event_handled.active or lower retention.outbox.active or .grace"));
  SLUICE_CHECK(check_otel(config.otel));
  SLUICE_TRY(config.declared,
             declare(settings.tables, {settings.environment, config.retry, config.inbox_retry, config.exec_enabled}));
  return config;
}

Result<Config> load(const Sources& sources) {
  SLUICE_TRY(auto settings, gather(sources));
  auto config = resolve(settings);
  if (config) config->declarer = declarer_of(settings, sources.hostname);
  return config;
}

}  // namespace sluice::config
