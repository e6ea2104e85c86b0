// Bulk changes as use cases: plan, preview, run, over a real embedded store.
#include "ops/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/audit.hpp"
#include "ops/operation_runner.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::ops {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const store::Actor kOperator{"alice", "cli", "upstream is back"};

class Operations : public testing::Test {
 protected:
  Operations() {
    subscribe("billing.meter");
    for (int number = 1; number <= 5; ++number) {
      store_.publish(test::id_of(number));
      store_.fail(test::id_of(number));
      store_.now += seconds{1};
    }
  }
  void subscribe(const std::string& handler) {
    const Subscription subscription{.handler_name = handler};
    store_.subscribe(1, {subscription});
  }
  void announce() {
    store_.announce({.identity = "host-1", .generation = 1, .handlers = {"billing.meter"}, .listener = ""});
  }
  host::Entropy entropy() {
    return {[this] { return store_.now; }, [this] { return std::array<std::uint8_t, 10>{++random_}; }};
  }
  BulkPlan plan(BulkRequest request = {}) { return test::must(plan_bulk(*store_, request, kOperator, entropy())); }
  store::OperationRecord start(const BulkPlan& planned, OperationSettings settings = {}) {
    const auto& operation = planned.operation;
    return test::must(store_->start_operation(operation.id, operation.progress.counts.total, settings, kOperator));
  }
  // A worker that delivers, or fails, whatever is due.
  void work(bool well) {
    for (const auto& event : store_.claim_all()) {
      const Outcome outcome =
          well ? Outcome::handled()
               : Outcome::failed({.error_class = "TerminalError", .message = "no", .sqlstate = "", .terminal = true});
      store_.settle(event, outcome);
    }
  }
  store::OperationRecord run(OperationRunner& runner, const Uuid& id, bool well) {
    for (int round = 0; round < 50; ++round) {
      auto stepped = test::must(runner.step(id));
      if (is_over(stepped.operation.progress.state)) return stepped.operation;
      work(well);
      store_.now += seconds{1};
    }
    throw std::runtime_error("it does not end");
  }
  test::EmbeddedStore store_;
  std::uint8_t random_ = 0;
};

TEST_F(Operations, AnIdMayBeGivenByItsBeginning) {
  const auto plan = [&](const char* id) {
    store::PlanRequest request;
    request.id = Uuid::parse(id).value();
    request.kind = OperationKind::discard;
    request.valid_for = std::chrono::hours{1};
    test::must(store_->plan_operation(request));
  };
  store_.publish(test::id_of(90));
  store_.fail(test::id_of(90));
  plan("0190a5d0-0000-7000-8000-000000000001");
  plan("0190a5d0-0000-7000-8000-0000000000ff");
  plan("0190a5d1-0000-7000-8000-000000000001");
  EXPECT_EQ(whole_operation_id(*store_, "0190a5d1", "ID")->to_string(), "0190a5d1-0000-7000-8000-000000000001");
  EXPECT_EQ(whole_operation_id(*store_, "0190a5d0", "ID").error().code, ErrorCode::invalid);
  EXPECT_EQ(whole_operation_id(*store_, "0190a5d2", "ID").error().code, ErrorCode::not_found);
  EXPECT_EQ(whole_operation_id(*store_, "0190", "ID").error().field, "ID");
}

TEST_F(Operations, AnOperationThatIsUnderWayIsAnnounced) {
  const BulkPlan first = plan();
  EXPECT_THAT(first.overlaps, testing::IsEmpty());
  EXPECT_THAT(plan().overlaps, testing::IsEmpty()) << "a plan that nobody has started stands in nobody's way";
  start(first);
  BulkRequest two;
  two.event_ids = {test::id_of(1), test::id_of(2)};
  const BulkPlan second = plan(two);
  ASSERT_EQ(second.overlaps.size(), 1U);
  EXPECT_EQ(second.overlaps[0].operation_id, first.operation.id);
  EXPECT_EQ(second.overlaps[0].events, 2);
  EXPECT_THAT(in_words(second.overlaps[0]),
              HasSubstr("2 events are also in operation " + first.operation.id.to_string()));
  EXPECT_THAT(to_json(second), HasSubstr(R"("overlaps":[{"operation_id":")"));
  EXPECT_EQ(overlaps_of(*store_, second.operation)->size(), 1U) << "also when the plan is looked at again";
  start(second);
  EXPECT_THAT(*overlaps_of(*store_, *find_operation(*store_, second.operation.id)), testing::IsEmpty())
      << "too late to tell";
}

TEST(OperationPaceTest, TellsPhaseSpeedAndWhatIsLeft) {
  const Timestamp start{seconds{1'750'000'000}};
  store::OperationRecord operation;
  operation.planned_at = start;
  operation.started_at = start;
  operation.progress.state = OperationState::running;
  operation.progress.settings.canary = 10;
  operation.progress.counts = {.total = 100, .taken = 10, .delivered = 4};
  EXPECT_EQ(phase_of(operation.progress), OperationPhase::canary);
  operation.progress.counts = {.total = 100, .taken = 50, .delivered = 38, .failed_again = 2};
  const OperationPace half = pace_of(operation, start + seconds{20});
  EXPECT_EQ(phase_of(operation.progress), OperationPhase::rest);
  EXPECT_DOUBLE_EQ(*half.per_second, 2.0);
  EXPECT_EQ(half.left, seconds{30});
  operation.progress.settings.rate = 1;
  EXPECT_EQ(pace_of(operation, start + seconds{20}).left, seconds{50}) << "no faster than it may";
  EXPECT_FALSE(pace_of(operation, start).per_second) << "nobody can tell yet";
  operation.progress.counts.taken = 100;
  EXPECT_EQ(phase_of(operation.progress), OperationPhase::settling);
  operation.progress.state = OperationState::paused;
  EXPECT_FALSE(pace_of(operation, start + seconds{20}).left);
  operation.progress.state = OperationState::finished;
  operation.progress.counts.delivered = 98;
  operation.ended_at = start + seconds{50};
  EXPECT_DOUBLE_EQ(*pace_of(operation, start + seconds{5000}).per_second, 2.0);
}

TEST_F(Operations, APlanSaysWhatWouldHappenToEach) {
  announce();
  const BulkPlan planned = plan();
  EXPECT_EQ(planned.operation.progress.counts.total, 5);
  ASSERT_TRUE(planned.preview);
  EXPECT_EQ(in_words(*planned.preview), "5 events will run");
  EXPECT_EQ(planned.preview->handlers.at("billing.meter").will_run, 5);
  EXPECT_TRUE(planned.preview->handlers.at("billing.meter").live);
  EXPECT_THAT(to_json(planned), HasSubstr(R"("token":")" + planned.operation.id.to_string()));
}

TEST_F(Operations, ThePreviewKnowsWhoHasHandledItAndWhoIsAway) {
  EXPECT_EQ(in_words(*plan().preview), "5 events have no live worker");
  announce();
  subscribe("worlds.indexer");
  store_.publish(test::id_of(6));
  store_.fail(test::id_of(6), "slow", {"worlds.indexer"});
  const auto preview = *plan().preview;
  EXPECT_EQ(preview.handlers.at("worlds.indexer").handled, 1);
  EXPECT_EQ(preview.handlers.at("worlds.indexer").will_run, 5);
  EXPECT_FALSE(preview.handlers.at("worlds.indexer").live);

  store_.publish(test::id_of(7));
  store_.fail(test::id_of(7), "slow", {"worlds.indexer", "billing.meter"});
  EXPECT_THAT(in_words(*plan().preview), HasSubstr("1 event is already handled"));
}

TEST_F(Operations, ThePreviewSaysWhenNobodySubscribes) {
  BulkRequest elsewhere;
  elsewhere.to_generation = 9;
  EXPECT_EQ(in_words(*plan(elsewhere).preview), "5 events have no subscriber");
}

TEST_F(Operations, ThePreviewChecksPayloads) {
  const ContractFile file{detail::contract_file_name("demo.hello", 1),
                          R"({"x-event-type":"demo.hello","x-event-version":1,"type":"object",)"
                          R"("properties":{"missing":{"type":"string"}},"required":["missing"]})"};
  const ContractSet contracts = test::must(ContractSet::read({file}));
  const auto planned = plan_bulk(*store_, {}, kOperator, entropy(), &contracts);
  ASSERT_TRUE(planned);
  EXPECT_EQ(in_words(*planned->preview), "5 events have an invalid payload");
  EXPECT_THAT(planned->preview->sample.front().why, HasSubstr("missing"));
}

TEST_F(Operations, AForecastWritesNothing) {
  const auto forecast = test::must(forecast_bulk(*store_, {}, kOperator, entropy()));
  EXPECT_EQ(forecast.count, 5);
  EXPECT_FALSE(forecast.capped);
  EXPECT_EQ(forecast.to_generation, 1);
  ASSERT_TRUE(forecast.preview);
  EXPECT_THAT(store_.sql("select count(*) from operations"), ElementsAre("0"));
}

TEST_F(Operations, AForecastByIdLeavesNothingThatCouldBeStarted) {
  BulkRequest two;
  two.event_ids = {test::id_of(1), test::id_of(2), test::id_of(99)};
  EXPECT_EQ(test::must(forecast_bulk(*store_, two, kOperator, entropy())).count, 2);
  store_.now += seconds{1};
  EXPECT_THAT(test::must(store_->operations(10)), testing::IsEmpty());
  EXPECT_THAT(store_.sql("select count(*) from outbox where status <> 'failed'"), ElementsAre("0"));
}

TEST_F(Operations, NothingToDoKeepsNothing) {
  BulkRequest none;
  none.query = test::must(EventQuery::parse("type:no.such"));
  const BulkPlan planned = plan(none);
  EXPECT_EQ(planned.operation.progress.counts.total, 0);
  EXPECT_THAT(to_json(planned), HasSubstr(R"("token":null)"));
  EXPECT_THAT(store_.sql("select count(*) from operations"), ElementsAre("0"));
}

TEST_F(Operations, NothingIsPlannedIntoARetiredGeneration) {
  store_.bring_generation(3, GenerationState::retired);
  BulkRequest there;
  there.to_generation = 3;
  const auto refused = plan_bulk(*store_, there, kOperator, entropy());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("generation 3 is retired"));
}

TEST_F(Operations, BadSettingsAreNamed) {
  EXPECT_EQ(check_settings({-1, 0, 20}).error().field, "rate");
  EXPECT_EQ(check_settings({0, -1, 20}).error().field, "canary");
  EXPECT_EQ(check_settings({0, 0, 101}).error().field, "stop_percent");
}

TEST_F(Operations, ARunCountsDeliveries) {
  const BulkPlan planned = plan();
  start(planned);
  OperationRunner runner{*store_, "one"};
  const auto ended = run(runner, planned.operation.id, true);
  EXPECT_EQ(ended.progress.state, OperationState::finished);
  EXPECT_EQ(ended.progress.counts.delivered, 5);
  EXPECT_EQ(ended.progress.counts.in_flight(), 0);
  EXPECT_THAT(store_.sql("select count(*) from audit where action = 'replay.bulk'"), ElementsAre("1"));
}

TEST_F(Operations, EachStepThatActsIsASpanThatNamesItsOperation) {
  const BulkPlan planned = plan();
  start(planned, {0, 2, 20});
  test::RecordingTracer tracer;
  OperationRunner runner{*store_, "one", kOperationLease, &tracer};
  run(runner, planned.operation.id, true);
  const auto spans = tracer.spans();
  ASSERT_EQ(spans.size(), 2U) << "the canary, and the rest";
  for (const auto& span : spans) {
    EXPECT_EQ(span.name, "replay operation");
    EXPECT_EQ(span.kind, SpanKind::producer);
    EXPECT_EQ(span.parent, "");
    EXPECT_THAT(span.links, testing::IsEmpty()) << "which events it takes is decided in the database";
    EXPECT_EQ(span.attributes.at("sluice.operation.id"), planned.operation.id.to_string());
    EXPECT_EQ(span.error_type, "");
  }
  EXPECT_EQ(spans[0].attributes.at("messaging.batch.message_count"), "2");
}

TEST_F(Operations, AStepThatFailedSaysSoInItsSpan) {
  const BulkPlan planned = plan();
  start(planned);
  test::FaultyAdministering faulty{store_};
  faulty.fail_verb("advance_operation", {ErrorCode::unavailable, Retry::safe, "nobody answers", {}, {}});
  test::RecordingTracer tracer;
  OperationRunner runner{faulty, "one", kOperationLease, &tracer};
  EXPECT_FALSE(runner.step(planned.operation.id));
  ASSERT_EQ(tracer.spans().size(), 1U);
  EXPECT_NE(tracer.spans()[0].error_type, "");
}

TEST_F(Operations, ACanaryThatFailsStopsItAndNothingElseIsTouched) {
  const BulkPlan planned = plan();
  start(planned, {0, 2, 20});
  OperationRunner runner{*store_, "one"};
  const auto ended = run(runner, planned.operation.id, false);
  EXPECT_EQ(ended.progress.state, OperationState::stopped);
  EXPECT_EQ(ended.note, "canary: 2 of 2 failed again");
  EXPECT_EQ(ended.progress.counts.remaining(), 3);
  EXPECT_THAT(store_.sql("select count(*) from outbox where failure_history = '[]'"), ElementsAre("3"));
}

TEST_F(Operations, TheNextRunnerGoesOnWhereAKilledOneStopped) {
  const BulkPlan planned = plan();
  start(planned, {2, 0, 20});
  OperationRunner killed{*store_, "killed", seconds{10}};
  ASSERT_TRUE(test::must(killed.step(planned.operation.id)).acting);

  OperationRunner next{*store_, "next", seconds{10}};
  EXPECT_FALSE(test::must(next.step(planned.operation.id)).acting) << "the lease is still running";
  store_.now += seconds{11};
  const auto ended = run(next, planned.operation.id, true);
  EXPECT_EQ(ended.progress.counts.delivered, 5);
  EXPECT_THAT(store_.sql("select count(*) from outbox where json_array_length(failure_history) <> 1"),
              ElementsAre("0"));
}

TEST_F(Operations, ARoundStepsWhatRunsAndAReleaseLetsOthersIn) {
  const BulkPlan planned = plan();
  start(planned);
  OperationRunner one{*store_, "one"};
  ASSERT_TRUE(one.round());
  EXPECT_THAT(*store_->runnable_operations("two"), testing::IsEmpty());
  ASSERT_TRUE(one.release_all());
  EXPECT_THAT(*store_->runnable_operations("two"), ElementsAre(planned.operation.id));
}

// 62 delivered, 1 in flight, for ever: the one comes to its end after the operator has cancelled.
TEST_F(Operations, ARoundCountsWhatWasInFlightWhenItWasCancelled) {
  const BulkPlan planned = plan();
  start(planned);
  OperationRunner runner{*store_, "one"};
  ASSERT_TRUE(runner.round());
  const auto replayed = store_.claim_all();
  test::must(store_->change_operation(planned.operation.id, {store::OperationChange::What::cancel, 0}, kOperator));
  ASSERT_TRUE(runner.round());
  EXPECT_EQ(test::must(store_->operation(planned.operation.id)).progress.counts.in_flight(), 5);
  for (const auto& event : replayed) store_.settle(event, Outcome::handled());
  ASSERT_TRUE(runner.round());
  const auto ended = test::must(store_->operation(planned.operation.id));
  EXPECT_EQ(ended.progress.state, OperationState::cancelled);
  EXPECT_EQ(ended.progress.counts.delivered, 5);
  EXPECT_EQ(ended.progress.counts.in_flight(), 0);
}

// Whatever call fails, and whether or not it was done: in the end each event was replayed exactly once.
TEST_F(Operations, AFaultAtAnyCallCostsTimeOnly) {
  for (const test::Fault fault : {test::Fault::before, test::Fault::after}) {
    for (int n = 1; n <= 6; ++n) {
      test::EmbeddedStore store;
      for (int number = 1; number <= 3; ++number) {
        store.publish(test::id_of(number));
        store.fail(test::id_of(number));
      }
      const auto planned = test::must(plan_bulk(*store, {}, kOperator, entropy()));
      test::must(store->start_operation(planned.operation.id, 3, {}, kOperator));
      test::FaultyAdministering faulty{store};
      faulty.fail_call(n, fault);
      OperationRunner runner{faulty, "one"};
      bool over = false;
      for (int round = 0; round < 20 && !over; ++round) {
        const auto stepped = runner.step(planned.operation.id);
        over = stepped && is_over(stepped->operation.progress.state);
        for (const auto& event : store.claim_all()) store.settle(event, Outcome::handled());
        store.now += seconds{1};
      }
      const auto ended = test::must(store->operation(planned.operation.id));
      EXPECT_EQ(ended.progress.state, OperationState::finished) << "call " << n;
      EXPECT_EQ(ended.progress.counts.delivered, 3) << "call " << n;
      EXPECT_THAT(store.sql("select distinct json_array_length(failure_history) from outbox"), ElementsAre("1"));
    }
  }
}

TEST_F(Operations, AStartChecksReasonKindAndSettings) {
  const Uuid id = plan().operation.id;
  const auto field = [&](const StartRequest& request, const std::string& reason) {
    const auto started = start_operation(*store_, request, {"alice", "cli", reason});
    return started ? "started" : started.error().field;
  };
  EXPECT_EQ(field({id, 5, {}, {}}, ""), "reason");
  EXPECT_EQ(field({id, 5, {}, {}}, " \t\n"), "reason");
  EXPECT_EQ(field({id, 5, {}, {}}, std::string(kMaxTextBytes + 1, 'x')), "reason");
  EXPECT_EQ(field({id, 5, {.rate = -1}, {}}, "why"), "rate");
  EXPECT_EQ(field({id, 5, {.canary = kMostPerSecond + 1}, {}}, "why"), "canary");
  EXPECT_EQ(field({id, 5, {.stop_percent = 101}, {}}, "why"), "stop_percent");
  EXPECT_EQ(field({id, 5, {}, OperationKind::discard}, "why"), "token");
  EXPECT_EQ(field({id, 4, {}, {}}, "why"), "count");
  EXPECT_EQ(field({id, 5, {.rate = 7}, OperationKind::replay}, "why"), "started");
  EXPECT_EQ(test::must(find_operation(*store_, id)).progress.settings.rate, 7);
  EXPECT_EQ(steer_operation(*store_, id, {store::OperationChange::What::rate, -1}, kOperator).error().field, "rate");
}

TEST_F(Operations, ItemsComeByThePage) {
  const Uuid id = plan().operation.id;
  const ItemPage first = test::must(list_items(*store_, id, 3, 0));
  ASSERT_EQ(first.items.size(), 3U);
  ASSERT_EQ(first.next_after, 3);
  const ItemPage rest = test::must(list_items(*store_, id, 3, *first.next_after));
  EXPECT_EQ(rest.items.size(), 2U);
  EXPECT_FALSE(rest.next_after);
  EXPECT_EQ(list_items(*store_, test::id_of(99), 3, 0).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace sluice::ops
