#include "ops/overview_attention.hpp"

#include <algorithm>
#include <map>

#include "ops/doctor_facts.hpp"

namespace sluice::ops {
namespace {

GenerationSurvey survey_of(const Sight& sight) {
  std::map<Generation, GenerationStatus> rows;
  for (const store::GenerationGauges& one : sight.gauges.generations) {
    GenerationStatus& row = rows[one.generation];
    row.pending = one.due + one.waiting;
    row.waiting = one.waiting;
    row.in_flight = one.in_flight;
    row.failed = one.dead;
    row.oldest_pending = one.oldest_due;
  }
  for (const store::Deployment& deployment : sight.deployments) rows[deployment.generation].state = deployment.state;
  for (const store::WorkerRecord& worker : sight.workers) ++rows[worker.generation].workers;
  GenerationSurvey survey{sight.gauges.now, {}, sight.deployments, sight.workers, 0};
  for (auto& [generation, row] : rows) {
    row.generation = generation;
    survey.generations.push_back(row);
  }
  return survey;
}

}  // namespace

std::vector<Finding> attention(const Sight& sight) {
  DoctorFacts facts;
  facts.store = sight.store;
  facts.retention = sight.retention;
  if (sight.diagnosis) facts.diagnosis = *sight.diagnosis;
  facts.now = sight.gauges.now;
  facts.survey = survey_of(sight);
  facts.stopped_sinks = sight.stopped_sinks;
  facts.unsubscribed = sight.unsubscribed;
  std::int64_t dead = 0;
  for (const store::GenerationGauges& one : sight.gauges.generations) dead += one.dead;
  facts.dead_letters = DeadTally{dead, std::min(sight.unacknowledged.value_or(dead), dead), false};
  std::vector<Finding> findings = findings_of(facts);
  // What a role may see is how it was set up, and no news every half minute.
  std::erase_if(findings, [](const Finding& finding) {
    return finding.severity == Severity::ok || finding.id == FindingId::sight_limited;
  });
  return findings;
}

std::string link_of(FindingId id) {
  switch (id) {
    case FindingId::dead_letters:
      return "/dlq";
    case FindingId::generation_abandoned:
      return "/generations";
    case FindingId::sink_stopped:
      return "/sinks";
    case FindingId::events_unsubscribed:
      return "/events?filter=status%3Apending";
    case FindingId::listener_deaf:
    case FindingId::worker_not_listening:
    case FindingId::doorbell_contention:
    case FindingId::notify_queue:
    case FindingId::claims_expired:
      return "/workers";
    case FindingId::stranded_events:
      return "/events";
    default:
      return "/storage";
  }
}

}  // namespace sluice::ops
