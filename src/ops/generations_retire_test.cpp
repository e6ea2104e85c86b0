#include "ops/generations_retire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RetireGate : public testing::Test {
 protected:
  RetireCheck check(Generation generation = 1) { return test::must(check_retire(*store_, generation)); }
  void drain() { store_.bring_generation(1, GenerationState::draining); }
  test::EmbeddedStore store_;
};

TEST_F(RetireGate, AnEmptyDrainingGenerationCanGo) {
  drain();
  EXPECT_TRUE(check().retirable());
  EXPECT_THAT(check().remarks, IsEmpty());
  EXPECT_TRUE(allow_retire(check(), false));
}

TEST_F(RetireGate, PendingEventsAndEventsInFlightStandInTheWay) {
  drain();
  store_.publish(test::id_of(1));
  store_.claim(test::id_of(1));
  store_.publish(test::id_of(2));
  EXPECT_THAT(check().blockers, ElementsAre("1 event pending", "1 event in flight"));
  const auto refused = allow_retire(check(), false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().message, "generation 1 cannot be retired: 1 event pending; 1 event in flight");
  EXPECT_TRUE(allow_retire(check(), true));
}

TEST_F(RetireGate, OpenPublishersStandInTheWayEvenOfForce) {
  drain();
  RetireCheck closed = check();
  closed.blockers = {"1 transaction"};
  closed.publishers = {{.pid = 7, .user = "app"}};
  EXPECT_EQ(allow_retire(closed, true).error().hint, "wait until it ends, or end it: select pg_terminate_backend(7)");
  closed.publishers = {{.gid = "g", .user = "app"}};
  EXPECT_EQ(allow_retire(closed, false).error().hint, "commit prepared or rollback prepared 'g', then try again");
}

TEST_F(RetireGate, SaysWhenTheNextEventFallsDue) {
  drain();
  store::NewEvent later{.envelope = EventEnvelope::trusted(test::a_draft_of(test::id_of(1)))};
  later.delay = std::chrono::hours{2};
  ASSERT_TRUE(store_->publish(std::span{&later, 1}));
  EXPECT_EQ(check().next_due, store_.now + std::chrono::hours{2});
  EXPECT_THAT(check().blockers, ElementsAre("1 event pending, 1 of them not due yet, the next at " +
                                            to_iso8601(store_.now + std::chrono::hours{2})));
}

TEST_F(RetireGate, FailedEventsAreNamedAndDoNotBlock) {
  drain();
  store_.publish(test::id_of(1));
  store_.fail(test::id_of(1));
  EXPECT_TRUE(check().retirable());
  EXPECT_THAT(check().remarks, ElementsAre(HasSubstr("replayed into another generation")));
}

TEST_F(RetireGate, NoWorkerForWhatIsLeftIsAnAlarm) {
  drain();
  store_.publish(test::id_of(1));
  EXPECT_TRUE(check().status.abandoned());
  EXPECT_THAT(check().remarks, ElementsAre(HasSubstr("draining, 1 left, NO WORKER")));
  store_.announce({.identity = "w1", .generation = 1, .handlers = {}, .listener = "listening"});
  store_.announce({.identity = "w2", .generation = 2, .handlers = {}, .listener = "listening"});
  EXPECT_FALSE(check().status.abandoned());
  EXPECT_THAT(check().remarks, ElementsAre("1 worker alive: w1"));
}

TEST_F(RetireGate, EvenForceNeedsADrainingGeneration) {
  store_.bring_generation(1, GenerationState::allocated);
  store_.bring_generation(2, GenerationState::live);
  store_.bring_generation(3, GenerationState::retired);
  for (const auto& [generation, why] :
       {std::pair{1, "never live"}, std::pair{2, "`sluice generation drain 2`"}, std::pair{3, "retired already"}}) {
    const auto found = check(generation);
    EXPECT_THAT(found.blockers, ElementsAre(HasSubstr(why)));
    const auto refused = allow_retire(found, true);
    ASSERT_FALSE(refused) << generation;
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    EXPECT_THAT(refused.error().message, HasSubstr(why));
  }
}

TEST_F(RetireGate, AnUnknownGenerationIsNotFound) {
  EXPECT_EQ(check_retire(*store_, 7).error().code, ErrorCode::not_found);
}

TEST_F(RetireGate, PassesAnErrorOn) {
  drain();
  store::NewEvent later{.envelope = EventEnvelope::trusted(test::a_draft_of(test::id_of(1)))};
  later.delay = std::chrono::hours{2};
  ASSERT_TRUE(store_->publish(std::span{&later, 1}));
  for (const std::string verb : {"open_publishers", "status", "deployments", "workers", "next_due"}) {
    test::FaultyAdministering faulty{store_};
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, "away", "", ""});
    EXPECT_EQ(check_retire(faulty, 1).error().code, ErrorCode::unavailable) << verb;
  }
}

TEST_F(RetireGate, TheJsonFieldsArePinned) {
  RetireCheck found;
  found.status = {.generation = 1, .state = GenerationState::draining, .pending = 2, .waiting = 1, .failed = 4};
  found.workers = {"w1"};
  found.blockers = {"2 events pending"};
  EXPECT_EQ(
      to_json(found),
      R"({"generation":1,"state":"draining","retirable":false,"pending":2,"waiting":1,"next_due_at":null,)"
      R"("in_flight":0,"failed":4,"publishers":[],"workers":["w1"],"abandoned":true,"blockers":["2 events pending"],)"
      R"("remarks":[],"estimated":[]})");
}

}  // namespace
}  // namespace sluice::ops
