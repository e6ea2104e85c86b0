#include "ops/doctor_findings.hpp"

#include <chrono>
#include <utility>

#include "core/try.hpp"
#include "ops/ladder.hpp"
#include "ops/sinks.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

class Gathering {
 public:
  Gathering(store::Administering& store, const DoctorOptions& options) : store_(store), options_(options) {
    facts_.store = store.display_name();
    facts_.retention = options.retention;
    facts_.dead_letter_levels = options.dead_letters;
    facts_.relay_settings = options.relay;
  }

  Result<DoctorFacts> run() {
    SLUICE_TRY(facts_.diagnosis, store_.diagnose(store::DiagnosisDepth::whole));
    facts_.unseen = std::move(facts_.diagnosis.unseen);
    if (facts_.diagnosis.file && !facts_.diagnosis.file->damage.empty()) return std::move(facts_);
    look_at_clock();
    keep(facts_.schema, "the version of the schema", store_.schema_version());
    // Another schema than this build's has other tables.
    if (!facts_.schema || facts_.schema->applied != facts_.schema->known) return std::move(facts_);
    if (auto damage = noted("the schema", store_.validate())) facts_.schema_damage = *std::move(damage);
    if (store_.capabilities().listen) look_at_listening();
    keep(facts_.survey, "generations and workers", survey_generations(store_));
    keep(facts_.stopped_sinks, "sinks", stopped_sinks(store_));
    if (facts_.survey) look_for_generations();
    keep(facts_.unsubscribed, "events that nobody subscribes to", store_.unsubscribed());
    keep(facts_.subscriptions, "subscriptions", store_.subscriptions());
    keep(facts_.overdue, "events that are overdue",
         store_.overdue({.patience = kDeliveryPatience, .alive_within = kAliveWithin, .limit = kOverdueLook}));
    keep(facts_.dead_letters, "dead letters", tally_dead(store_, kDeadLook));
    look_at_ladder();
    if (!store_.capabilities().embedded) keep(facts_.relay, "the relay", look_at_relay(store_, options_.broker));
    const bool unused =
        facts_.relay && facts_.relay->relay.state == store::RelayState::off && options_.broker == nullptr;
    if (unused) facts_.relay.reset();
    return std::move(facts_);
  }

 private:
  template <class T>
  std::optional<T> noted(const char* what, Result<T> result) {
    if (result) return *std::move(result);
    facts_.unseen.push_back({what, std::move(result).error()});
    return std::nullopt;
  }
  template <class T>
  void keep(std::optional<T>& place, const char* what, Result<T> result) {
    place = noted(what, std::move(result));
  }

  void look_at_clock() {
    const Timestamp before = options_.clock();
    facts_.now = noted("the store's clock", store_.now());
    const Timestamp after = options_.clock();
    // An embedded store has no clock but ours.
    if (!facts_.now || store_.capabilities().embedded) return;
    facts_.clock_ahead = *facts_.now - (before + (after - before) / 2);
  }

  void look_at_ladder() {
    auto history = noted("the history of the ladder", store_.ladder_history());
    const auto relay = noted("the relay's switch", store_.relay());
    if (!history || !relay || !facts_.now) return;
    const LadderStage stage = stage_of(facts_.diagnosis, store_.capabilities(), *relay);
    facts_.ladder = judge_ladder(*std::move(history), stage, *facts_.now);
  }

  void look_for_generations() {
    for (const GenerationStatus& one : facts_.survey->generations) {
      if (one.state || !one.abandoned()) continue;
      const auto exists = noted("generations", store_.generation_exists(one.generation));
      if (exists && !*exists) facts_.missing_generations.insert(one.generation);
    }
  }

  void look_at_listening() {
    keep(facts_.doorbell, "the doorbell", store_.doorbell());
    auto listener = noted("a listener", store_.listen({}));
    if (!listener) return;
    if (const auto sent = (*listener)->probe(); !sent) {
      facts_.unseen.push_back({"a listener", sent.error()});
      return;
    }
    Hearing hearing;
    const auto deadline = std::chrono::steady_clock::now() + options_.longest_echo;
    for (auto left = options_.longest_echo; !hearing.heard && left > Duration::zero();) {
      const auto heard = (*listener)->wait(left);
      if (!heard) break;
      hearing.heard = *heard == store::Heard::echo;
      left = std::chrono::duration_cast<Duration>(deadline - std::chrono::steady_clock::now());
    }
    hearing.obstacle = (*listener)->obstacle();
    facts_.hearing = std::move(hearing);
  }

  store::Administering& store_;
  const DoctorOptions& options_;
  DoctorFacts facts_;
};

}  // namespace

Result<DoctorFacts> gather_facts(store::Administering& store, const DoctorOptions& options) {
  return Gathering{store, options}.run();
}

}  // namespace sluice::ops
