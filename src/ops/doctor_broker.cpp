// What the doctor says of the broker, while the relay is on or one is configured.
#include <algorithm>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

constexpr std::int64_t kManyWaiting = 100'000;
constexpr int kReplicasThatSurvive = 3;

/// What is in the broker, and who is furthest behind.
std::string load_text(const RelayView& view) {
  const broker::BrokerFacts& facts = *view.broker;
  std::string text = counted(facts.messages, "message") + " in it";
  if (facts.bytes > 0) text += " (" + bytes_text(facts.bytes) + ")";
  if (view.handlers.empty()) {
    text += ", none waits";
  } else {
    const HandlerLoad& last = view.handlers.front();
    text += ", most wait for " + last.handler_name + ": " + std::to_string(last.waiting) + " waiting, " +
            std::to_string(last.unsettled) + " handed out";
  }
  if (!view.left_behind.empty()) text += ", left behind by handlers that were removed: " + in_words(view.left_behind);
  return text;
}

bool is_nearly(std::int64_t value, std::optional<std::int64_t> most) { return most && value >= *most - *most / 10; }

// Less than the configuration asks for: it loses nothing now.
std::optional<StreamFault> weakness_of(const broker::BrokerFacts& facts, const RelaySettings& settings) {
  const std::string edit = "nats stream edit " + facts.stream;
  if (auto early = drops_too_soon(facts, settings)) return early;
  if (facts.discard == "new" && is_nearly(facts.messages, facts.max_messages)) {
    return StreamFault{"the stream is nearly full: " + std::to_string(facts.messages) + " messages of at most " +
                           std::to_string(*facts.max_messages),
                       edit + " --max-msgs=-1"};
  }
  if (facts.discard == "new" && is_nearly(facts.bytes, facts.max_bytes)) {
    return StreamFault{
        "the stream is nearly full: " + bytes_text(facts.bytes) + " of at most " + bytes_text(*facts.max_bytes),
        edit + " --max-bytes=-1"};
  }
  if (facts.replicas && *facts.replicas < settings.stream.replicas) {
    return StreamFault{"the stream has " + counted(*facts.replicas, "replica") + ", relay.replicas is " +
                           std::to_string(settings.stream.replicas),
                       edit + " --replicas " + std::to_string(settings.stream.replicas)};
  }
  return std::nullopt;
}

void judge_stream(const RelayView& view, const RelaySettings& settings, Findings& findings) {
  const broker::BrokerFacts& facts = *view.broker;
  const std::string worth = broker::worth_of_answer(facts);
  std::vector<std::string> faults;
  std::string fix;
  const auto fault = [&](bool found, std::string what, std::string help) {
    if (!found) return;
    faults.push_back(std::move(what));
    if (fix.empty()) fix = std::move(help);
  };
  const bool on = view.relay.state == store::RelayState::on;
  fault(on && !facts.stream_exists && facts.kind == "nats", "the stream is missing",
        "sluice ladder relay nats --reason 'the stream is gone'; what it held is in the outbox as delivered");
  for (StreamFault& one : faults_of(facts, settings)) fault(true, std::move(one.what), std::move(one.fix));
  fault(facts.replicas && facts.replicas_current && *facts.replicas_current < *facts.replicas,
        counted(facts.replicas_current.value_or(0), "replica") + " of " + std::to_string(facts.replicas.value_or(0)) +
            " up to date",
        "look at the servers of the NATS cluster; until then another failure may stop the stream");
  fault(facts.appendonly == false, "appendonly is off", "redis-cli config set appendonly yes, and in redis.conf");
  fault(facts.maxmemory_policy && *facts.maxmemory_policy != "noeviction",
        "maxmemory-policy is " + facts.maxmemory_policy.value_or("") + ": Redis may drop streams",
        "redis-cli config set maxmemory-policy noeviction, and in redis.conf");
  if (!faults.empty()) {
    return findings.add({FindingId::broker_unsafe, on ? Severity::critical : Severity::warning,
                         facts.server + ": " + joined(faults, "; "), worth, fix});
  }
  if (const auto weakness = weakness_of(facts, settings)) {
    return findings.add(
        {FindingId::broker_unsafe, Severity::warning, facts.server + ": " + weakness->what, worth, weakness->fix});
  }
  if (view.waiting >= kManyWaiting) {
    return findings.add(
        {FindingId::broker_unsafe, Severity::warning,
         counted(view.waiting, "message") + " wait in the broker for their handlers; " + load_text(view), worth,
         "look at the consumers: `sluice worker list`; the stream drops what is older than relay.max_age"});
  }
  const bool weak = facts.kind == "nats" ? facts.replicas.value_or(1) < kReplicasThatSurvive
                                         : facts.appendfsync.value_or("") != "always";
  findings.add({FindingId::broker_unsafe, weak && on ? Severity::info : Severity::ok,
                facts.kind + " at " + facts.server + " carries the deliveries; " + load_text(view) + "; " + worth, "",
                ""});
}

void judge_consumers(const DoctorFacts& facts, Findings& findings) {
  if (!facts.survey || facts.relay->relay.state == store::RelayState::off) return;
  std::vector<std::string> without;
  for (const store::WorkerRecord& worker : facts.survey->workers) {
    if (worker.listener == "no broker") without.push_back(worker.identity);
  }
  if (without.empty()) {
    return findings.ok(FindingId::worker_without_broker, "every worker consumes from " + facts.relay->relay.broker);
  }
  findings.add({FindingId::worker_without_broker, Severity::critical,
                counted(static_cast<std::int64_t>(without.size()), "worker") + " without " + facts.relay->relay.broker +
                    ": " + enumerated(without),
                "Deliveries go through the broker, so they deliver nothing; their events wait in it.",
                "give them relay.url or SLUICE_BROKER and start them again, or `sluice ladder relay --back`"});
}

}  // namespace

void judge_broker(const DoctorFacts& facts, Findings& findings) {
  if (!facts.relay) return;
  const bool off = facts.relay->relay.state == store::RelayState::off;
  if (facts.relay->broker) {
    judge_stream(*facts.relay, facts.relay_settings, findings);
  } else if (!off) {
    findings.add({FindingId::broker_unsafe, Severity::critical,
                  "the relay is " + std::string{name(facts.relay->relay.state)} +
                      ", and its broker cannot be looked at: " + facts.relay->trouble,
                  "Events wait in the outbox until it is back; nothing is lost.",
                  "set relay.url where the doctor runs, and look at the broker"});
  }
  judge_consumers(facts, findings);
}

}  // namespace sluice::ops
