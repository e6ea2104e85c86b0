// Publishing: what is committed arrives, in order where a key asks for it, and what is not does not.
#include <gmock/gmock.h>

#include "tests/library/public_api.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Publishing : public PublicApi {
 protected:
  // Delivers everything that is due, the payloads in the order of their handling, until `count` were.
  std::vector<std::string> delivered(std::size_t count, HandlerOptions options = {.handler_name = "tests.reader"}) {
    Notes notes;
    auto running = listener(4);
    required(running.listen(std::move(options), [&](const EventEnvelope& event) { notes.add(event.payload()); }));
    required(running.start());
    notes.await(count);
    running.stop();
    return notes.all();
  }
};

TEST_F(Publishing, ABatchArrives) {
  const std::vector events{event(R"({"n":1})"), event(R"({"n":2})"), event(R"({"n":3})")};
  required(publisher().publish(events));
  EXPECT_THAT(delivered(3), testing::UnorderedElementsAre(R"({"n":1})", R"({"n":2})", R"({"n":3})"));
}

TEST_F(Publishing, AnEmptyBatchIsNothing) { EXPECT_TRUE(publisher().publish(std::span<const EventEnvelope>{})); }

TEST_F(Publishing, TheSameIdAgainChangesNothing) {
  const EventEnvelope once = event(R"({"n":1})");
  required(publisher().publish(once));
  required(publisher().publish(once));
  publish(R"({"n":2})", {.ordering_key = "later"});
  EXPECT_THAT(delivered(2), testing::UnorderedElementsAre(R"({"n":1})", R"({"n":2})"));
}

TEST_F(Publishing, ADelayedEventIsNotDueYet) {
  publish(R"({"n":1})", {.delay = 1h});
  publish(R"({"n":2})", {.not_before = std::chrono::sys_days{std::chrono::year{9000} / 1 / 1}});
  publish(R"({"n":3})", {.delay = 0s});
  EXPECT_THAT(delivered(1), ElementsAre(R"({"n":3})"));
}

TEST_F(Publishing, AnOrderingKeyKeepsTheOrderAcrossThreads) {
  std::vector<std::string> wanted;
  for (int n = 0; n < 40; ++n) {
    wanted.push_back("{\"n\":" + std::to_string(n) + "}");
    publish(wanted.back(), {.ordering_key = "one"});
  }
  EXPECT_EQ(delivered(wanted.size()), wanted);
}

TEST_F(Publishing, AProcessingClassReachesItsHandlersOnly) {
  publish(R"({"n":"slow"})", {.processing_class = "slow"});
  publish(R"({"n":"plain"})");
  EXPECT_THAT(delivered(1, {.handler_name = "tests.slow", .processing_class = "slow"}), ElementsAre(R"({"n":"slow"})"));
}

TEST_F(Publishing, BadRoutingIsNamedAndNothingIsWritten) {
  const auto refused = [&](const Routing& routing) { return publisher().publish(event(), routing).error().field; };
  EXPECT_EQ(refused({.ordering_key = ""}), "ordering_key");
  EXPECT_EQ(refused({.delay = -1s}), "delay");
  EXPECT_EQ(refused({.processing_class = "Not A Class"}), "processing_class");
  publish(R"({"n":1})");
  EXPECT_THAT(delivered(1), ElementsAre(R"({"n":1})"));
}

TEST_F(Publishing, JoinsTheUsersTransaction) {
  publish(R"({"n":0})");  // makes the file
  const OwnConnection mine{file()};
  mine.run("create table orders (id int)");
  mine.run("begin");
  mine.run("insert into orders values (1)");
  required(publisher().publish(event(R"({"n":1})"), mine.get()));
  mine.run("commit");
  mine.run("begin");
  mine.run("insert into orders values (2)");
  required(publisher().publish(event(R"({"n":2})"), mine.get()));
  mine.run("rollback");
  mine.run("begin");
  const std::vector batch{event(R"({"n":3})"), event(R"({"n":4})")};
  required(publisher().publish(batch, mine.get(), {.ordering_key = "key"}));
  mine.run("commit");
  EXPECT_EQ(mine.run("select count(*) from orders"), "1");
  EXPECT_THAT(delivered(4), testing::UnorderedElementsAre(R"({"n":0})", R"({"n":1})", R"({"n":3})", R"({"n":4})"));
}

TEST_F(Publishing, WithoutATransactionToJoinItIsRefused) {
  publish(R"({"n":0})");
  const OwnConnection mine{file()};
  const auto refused = publisher().publish(event(R"({"n":1})"), mine.get());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("begin one"));
  EXPECT_THAT(delivered(1), ElementsAre(R"({"n":0})"));
}

TEST_F(Publishing, DraftsHaveIdsThatGrow) {
  Uuid last;
  for (int i = 0; i < 1000; ++i) {
    const EnvelopeDraft draft = publisher().draft();
    EXPECT_EQ(draft.event_id.version(), 7);
    EXPECT_LT(last, draft.event_id);
    last = draft.event_id;
  }
}

TEST_F(Publishing, AGenerationThatDoesNotExistIsRefusedUntilItDoes) {
  auto stray = required(EventPublisher::open({.store = store(), .generation = 999}));
  const auto refused = stray.publish(event());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "generation");
  EXPECT_THAT(refused.error().message, HasSubstr("generation 999 does not exist"));
  const OwnConnection own{file()};
  EXPECT_EQ(own.run("select count(*) from outbox"), "0");
  own.run("insert into deployments (generation) values (999)");
  required(stray.publish(event()));
}

TEST_F(Publishing, AGenerationIsSeenByItsOwnListenersOnly) {
  publisher();
  OwnConnection{file()}.run("insert into deployments (generation) values (2)");
  auto newer = required(EventPublisher::open({.store = store(), .generation = 2}));
  required(newer.publish(event(R"({"n":"two"})")));
  publish(R"({"n":"one"})");
  EXPECT_THAT(delivered(1), ElementsAre(R"({"n":"one"})"));
}

}  // namespace
}  // namespace sluice::test
