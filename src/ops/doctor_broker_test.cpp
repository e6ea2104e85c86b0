// What the doctor says of a broker, with made-up facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> all_of_broker(const DoctorFacts& facts, FindingId id) {
  Findings findings;
  judge_broker(facts, findings);
  std::vector<Finding> found = std::move(findings).take();
  std::erase_if(found, [&](const Finding& finding) { return finding.id != id; });
  return found;
}
Finding of_broker(const DoctorFacts& facts, FindingId id) { return all_of_broker(facts, id).at(0); }

RelayView relaying_to_nats() {
  RelayView view;
  view.relay.state = store::RelayState::on;
  view.relay.broker = "nats";
  view.broker.emplace();
  view.broker->kind = "nats";
  view.broker->server = "127.0.0.1:4222";
  view.broker->stream_exists = true;
  view.broker->storage = "file";
  view.broker->discard = "new";
  view.broker->replicas = 3;
  view.broker->replicas_current = 3;
  return view;
}

TEST(DoctorBroker, NothingIsSaidWithoutARelay) {
  EXPECT_THAT(all_of_broker(DoctorFacts{}, FindingId::broker_unsafe), IsEmpty());
}

TEST(DoctorBroker, AReplicatedStreamIsWellAndASingleOneIsANote) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::ok);
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).title, HasSubstr("majority of 3"));
  facts.relay->broker->replicas = 1;
  facts.relay->broker->replicas_current = 1;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::info);
}

TEST(DoctorBroker, WhatCanLoseMessagesIsCritical) {
  DoctorFacts facts;
  const auto severity_with = [&](const std::function<void(broker::BrokerFacts&)>& change) {
    facts.relay = relaying_to_nats();
    change(*facts.relay->broker);
    return of_broker(facts, FindingId::broker_unsafe).severity;
  };
  EXPECT_EQ(severity_with([](auto& b) { b.stream_exists = false; }), Severity::critical);
  EXPECT_EQ(severity_with([](auto& b) { b.storage = "memory"; }), Severity::critical);
  EXPECT_EQ(severity_with([](auto& b) { b.discard = "old"; }), Severity::critical);
  EXPECT_EQ(severity_with([](auto& b) { b.replicas_current = 2; }), Severity::critical);
  EXPECT_EQ(severity_with([](auto& b) { b.maxmemory_policy = "allkeys-lru"; }), Severity::critical);
  EXPECT_EQ(severity_with([](auto& b) { b.appendonly = false; }), Severity::critical);
}

TEST(DoctorBroker, ADuplicateWindowThatIsTooShortIsCriticalAndSaysTheCommand) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  facts.relay->broker->stream = "SLUICE";
  facts.relay->broker->duplicate_window = std::chrono::minutes{2};
  const Finding found = of_broker(facts, FindingId::broker_unsafe);
  EXPECT_EQ(found.severity, Severity::critical);
  EXPECT_THAT(found.title, HasSubstr("recognises a duplicate for 2m"));
  EXPECT_EQ(found.fix, "nats stream edit SLUICE --dupe-window 2h");
  facts.relay->broker->duplicate_window = std::chrono::hours{2};
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::ok);
}

TEST(DoctorBroker, LessThanIsConfiguredIsAWarning) {
  DoctorFacts facts;
  facts.relay_settings.stream.replicas = 3;
  facts.relay = relaying_to_nats();
  facts.relay->broker->stream = "SLUICE";
  facts.relay->broker->max_age = std::chrono::hours{24};
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::warning);
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).fix, HasSubstr("nats stream edit SLUICE --max-age 7d"));
  facts.relay->broker->max_age.reset();
  facts.relay->broker->replicas = 1;
  facts.relay->broker->replicas_current = 1;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).fix, "nats stream edit SLUICE --replicas 3");
}

TEST(DoctorBroker, AStreamThatIsFullIsCriticalAndOneThatIsNearlyFullAWarning) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  broker::BrokerFacts& broker = *facts.relay->broker;
  broker.stream = "SLUICE";
  broker.messages = 100;
  broker.max_messages = 100;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::critical);
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).title,
              HasSubstr("is full: it has 100 messages of at most 100"));
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).fix, "nats stream edit SLUICE --max-msgs=-1");
  broker.messages = 90;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::warning);
  broker.messages = 89;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::ok);
  broker.bytes = 2000;
  broker.max_bytes = 2048;
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::warning);
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).fix, "nats stream edit SLUICE --max-bytes=-1");
}

TEST(DoctorBroker, WhatRedisDoesNotTellIsNotCalledOff) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  facts.relay->broker = broker::BrokerFacts{.kind = "redis", .server = "127.0.0.1:6379"};
  const Finding found = of_broker(facts, FindingId::broker_unsafe);
  EXPECT_EQ(found.severity, Severity::info);
  EXPECT_THAT(found.title, HasSubstr("does not tell whether it keeps"));
}

TEST(DoctorBroker, TheHandlerThatIsFurthestBehindIsNamedAndWhatRemovedOnesLeftBehind) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  facts.relay->broker->messages = 40;
  facts.relay->broker->bytes = 2048;
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).title, HasSubstr("none waits"));
  facts.relay->handlers = {{1, "billing.mailer", 7, 2}, {1, "billing.books", 3, 4}};
  facts.relay->left_behind = {{2, "search.indexer", 20, 0}};
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).title,
              HasSubstr("40 messages in it (2.0 KiB), most wait for billing.mailer: 7 waiting, 2 handed out, "
                        "left behind by handlers that were removed: 20 for search.indexer (generation 2)"));
}

TEST(DoctorBroker, ABrokerThatIsAwayAndWorkersWithoutOne) {
  DoctorFacts facts;
  facts.relay = relaying_to_nats();
  facts.relay->broker.reset();
  facts.relay->trouble = "connection refused";
  EXPECT_EQ(of_broker(facts, FindingId::broker_unsafe).severity, Severity::critical);
  EXPECT_THAT(of_broker(facts, FindingId::broker_unsafe).title, HasSubstr("connection refused"));
  facts.survey.emplace();
  facts.survey->workers.push_back({"host:1:x", 1, {"billing.mailer"}, "no broker", {}, {}});
  EXPECT_EQ(of_broker(facts, FindingId::worker_without_broker).severity, Severity::critical);
  EXPECT_THAT(of_broker(facts, FindingId::worker_without_broker).title, HasSubstr("host:1:x"));
}

}  // namespace
}  // namespace sluice::ops
