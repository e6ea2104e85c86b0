#include "ops/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Gauge& gauge(std::string_view name) { return *find_gauge(name); }

Result<Thresholds> parsed(std::string_view name, std::optional<std::string> warn, std::optional<std::string> crit) {
  return parse_thresholds(gauge(name), warn, crit);
}

double read(store::Administering& store, std::string_view name) {
  return test::must(read_gauge(store, gauge(name), {gauge(name).warn, gauge(name).crit})).value;
}

TEST(CheckThresholds, DefaultsHoldUntilTheyContradictWhatWasGiven) {
  EXPECT_EQ(parsed("backlog", {}, {})->warn, 1000);
  EXPECT_EQ(parsed("backlog", "20000", {})->crit, 20000) << "the default of 10000 would be below";
  EXPECT_EQ(parsed("backlog", {}, "10")->warn, 10);
  EXPECT_EQ(parsed("backlog", "5", {})->crit, 10000);
}

TEST(CheckThresholds, AreOfTheGaugesUnit) {
  EXPECT_EQ(parsed("lag", "2m", "1h")->warn, 120);
  EXPECT_EQ(parsed("lag", "500ms", {})->warn, 0.5);
  EXPECT_EQ(parsed("notify", "12.5%", "50")->warn, 12.5);
  EXPECT_EQ(parsed("dlq", "0", "5")->warn, 0);
}

TEST(CheckThresholds, ABadOneIsRefusedByItsFlag) {
  const std::vector<std::array<std::string, 3>> bad{{"backlog", "many", "--warn"}, {"backlog", "1.5", "--warn"},
                                                    {"backlog", "-1", "--warn"},   {"backlog", "", "--warn"},
                                                    {"backlog", "nan", "--warn"},  {"backlog", "5m", "--warn"},
                                                    {"lag", "soon", "--warn"},     {"notify", "101", "--warn"}};
  for (const auto& [name, text, flag] : bad) {
    const auto refused = parsed(name, text, {});
    ASSERT_FALSE(refused) << name << ' ' << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_EQ(refused.error().field, flag);
    EXPECT_THAT(refused.error().message, HasSubstr("`" + text + "`"));
  }
  EXPECT_EQ(parsed("dlq", {}, "x").error().field, "--crit");
  const auto swapped = parsed("lag", "5m", "30s");
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error().field, "--crit");
  EXPECT_EQ(swapped.error().message, "--crit (30s) must not be below --warn (5m)");
}

TEST(Check, AThresholdBelongsToItsState) {
  const auto state = [](double value) { return judge(gauge("dlq"), {10, 20}, Reading{value, ""}).state; };
  EXPECT_EQ(state(9), CheckState::ok);
  EXPECT_EQ(state(10), CheckState::warning);
  EXPECT_EQ(state(19), CheckState::warning);
  EXPECT_EQ(state(20), CheckState::critical);
}

TEST(Check, TheLineIsWhatMonitoringPluginsPrint) {
  EXPECT_EQ(to_line(judge(gauge("backlog"), {1000, 10000}, Reading{12, ""})),
            "OK backlog 12 | backlog=12;1000;10000;0");
  EXPECT_EQ(to_line(judge(gauge("lag"), {30, 300}, Reading{42.5, ""})), "WARNING lag 42.5s | lag=42.5s;30;300;0");
  EXPECT_EQ(to_line(judge(gauge("notify"), {25, 50}, Reading{50, ""})), "CRITICAL notify 50% | notify=50%;25;50;0;100");
  EXPECT_EQ(to_line(judge(gauge("listener"), {1, 3}, Reading{1, "a|b is deaf"})),
            "WARNING listener 1: a/b is deaf | listener=1;1;3;0");
  EXPECT_EQ(to_line(judge(gauge("dlq"), {1, 3}, Error{ErrorCode::unavailable, Retry::safe, "it is away", "", ""})),
            "UNKNOWN dlq: it is away");
}

TEST(Check, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(judge(gauge("lag"), {30, 300}, Reading{0.25, ""})),
            R"({"check":"lag","state":"ok","value":0.25,"unit":"seconds","warn":30,"crit":300,"detail":""})");
  EXPECT_EQ(to_json(judge(gauge("dlq"), {1, 3}, Error{ErrorCode::unavailable, Retry::safe, "away", "", ""})),
            R"({"check":"dlq","state":"unknown","value":null,"unit":"count","warn":1,"crit":3,"detail":"away"})");
}

TEST(CheckGauges, OfAnEmptyStoreAreZero) {
  test::EmbeddedStore store;
  for (const std::string_view name : {"backlog", "lag", "dlq", "listener", "generation"}) {
    EXPECT_EQ(read(*store, name), 0) << name;
  }
  EXPECT_EQ(read_gauge(*store, gauge("notify"), {25, 50}).error().code, ErrorCode::invalid);
}

TEST(CheckGauges, BacklogAndLagCountWhatIsDue) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.now += 10s;
  store.publish(test::id_of(2));
  store::NewEvent later{.envelope = test::must(EventEnvelope::make(test::a_draft_of(test::id_of(3))))};
  later.not_before = store.now + 1h;
  test::must(store->publish(std::span{&later, 1}));
  store.now += 5s;
  EXPECT_EQ(read(*store, "backlog"), 2) << "one is for later";
  EXPECT_EQ(read(*store, "lag"), 15);
  store.now += 2h;
  EXPECT_EQ(read(*store, "backlog"), 3);
}

TEST(CheckGauges, DeadLettersAreCountedNoFurtherThanNeeded) {
  test::EmbeddedStore store;
  for (int number = 1; number <= 4; ++number) {
    store.publish(test::id_of(number));
    store.fail(test::id_of(number));
  }
  EXPECT_EQ(read(*store, "dlq"), 4);
  const auto capped = test::must(read_gauge(*store, gauge("dlq"), {1, 2}));
  EXPECT_EQ(capped.value, 3);
  EXPECT_EQ(capped.detail, "or more");
}

TEST(CheckGauges, AcknowledgedDeadLettersAreSilent) {
  test::EmbeddedStore store;
  for (int number = 1; number <= 5; ++number) {
    store.publish(test::id_of(number));
    store.fail(test::id_of(number), number == 5 ? "another thing entirely" : "slow");
  }
  const store::Actor alice{"alice", "cli", "we know"};
  const auto groups = test::must(store->failure_groups({}));
  ASSERT_EQ(groups.at(0).count, 4);
  test::must(store->acknowledge(groups.at(0).fingerprint, true, alice));
  const auto reading = test::must(read_gauge(*store, gauge("dlq"), {1, 3}));
  EXPECT_EQ(reading.value, 1);
  EXPECT_EQ(reading.detail, "at least 4 dead letters, 1 not acknowledged") << "counted no further than needed";
  EXPECT_EQ(to_line(judge(gauge("dlq"), {1, 100}, read_gauge(*store, gauge("dlq"), {1, 100}))),
            "WARNING dlq 1: 5 dead letters, 4 acknowledged | dlq=1;1;100;0");
  test::must(store->acknowledge(groups.at(1).fingerprint, true, alice));
  EXPECT_EQ(judge(gauge("dlq"), {1, 100}, read_gauge(*store, gauge("dlq"), {1, 100})).state, CheckState::ok);
}

TEST(CheckGauges, ListenersAndGenerationsNameTheirCulprits) {
  test::EmbeddedStore store;
  store.publish(test::id_of(1));
  store.publish(test::id_of(2), 2);
  store.announce({.identity = "host-2", .generation = 2, .handlers = {}, .listener = "deaf"});
  const auto listeners = test::must(read_gauge(*store, gauge("listener"), {1, 3}));
  EXPECT_EQ(listeners.value, 1);
  EXPECT_EQ(listeners.detail, "host-2 is deaf");
  const auto generations = test::must(read_gauge(*store, gauge("generation"), {1, 3}));
  EXPECT_EQ(generations.value, 1);
  EXPECT_EQ(generations.detail, "generation 1 has 1");
}

TEST(CheckGauges, PassAnErrorOn) {
  test::EmbeddedStore store;
  test::FaultyAdministering faulty{store};
  for (const std::string verb : {"due_backlog", "count_dead", "notify_queue_usage", "workers", "status", "sinks"}) {
    faulty.fail_verb(verb, {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  }
  for (const Gauge& one : kGauges) {
    EXPECT_EQ(read_gauge(faulty, one, {1, 2}).error().code, ErrorCode::unavailable) << one.name;
  }
}

}  // namespace
}  // namespace sluice::ops
