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
