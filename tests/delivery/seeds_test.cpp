// What the founding documents promise, one test each, named after the promise.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/json.hpp"
#include "tests/delivery/delivery_fixture.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using runtime::RegisteredHandler;

class Seeds : public testing::Test {
 protected:
  store::EventRecord event(const Uuid& id) {
    auto found = store->get_event(id);
    if (!found) throw std::runtime_error(found.error().message);
    return *std::move(found);
  }
  void await_status(const Uuid& id, Status status) {
    eventually([&] { return event(id).status == status; });
  }
  RegisteredHandler throwing(const std::function<void()>& thrower, std::atomic<int>& calls) {
    return {.subscription = {.handler_name = "tests.thrower"},
            .handler =
                [thrower, &calls](const EventEnvelope&) {
                  ++calls;
                  thrower();
                },
            .retry = quick_retry()};
  }

  PostgresDatabase database;
  std::unique_ptr<store::Store> store = open_store(database.url());
  Journal journal;
};

TEST_F(Seeds, BatchOfTenOnNotify) {
  std::vector<std::size_t> sizes;
  std::mutex mutex;
  RegisteredHandler batches{.subscription = {.handler_name = "tests.batches"},
                            .handler = [&](std::span<const EventEnvelope> events) {
                              const std::lock_guard lock{mutex};
                              sizes.push_back(events.size());
                              for (const auto& one : events) journal.write("tests.batches", one.event_id());
                            }};
  auto options = patient_options("p:1");
  options.workers = 1;
  DeliveringProcess process{open_store(database.url()), {std::move(batches)}, options};
  eventually([&] { return process->listener_state() == runtime::ListenerState::listening; });
  std::vector<store::NewEvent> events;
  for (int i = 0; i < 25; ++i) events.push_back(on_channel(an_event()));
  ASSERT_TRUE(store->publish(events));
  journal.await(25);
  const std::lock_guard lock{mutex};
  EXPECT_EQ(sizes.front(), 10U) << "then growing while batches are full";
}

TEST_F(Seeds, FiveAttemptsThenFailed) {
  std::atomic<int> calls = 0;
  DeliveringProcess process{open_store(database.url()),
                            {throwing([] { throw std::runtime_error("the peer is away"); }, calls)},
                            patient_options("p:1")};
  const Uuid id = publish_one(*store);
  await_status(id, Status::failed);
  EXPECT_EQ(calls.load(), 5);
  EXPECT_EQ(event(id).attempts, 5);
  EXPECT_EQ(event(id).last_error, "runtime_error: the peer is away");
  EXPECT_TRUE(event(id).fingerprint);
  EXPECT_TRUE(event(id).first_failed_at);
}

struct TerminalKind {
  std::string name;
  std::function<void()> thrower;
  std::string error_class;
};

class TerminalAtOnce : public Seeds, public testing::WithParamInterface<TerminalKind> {};

TEST_P(TerminalAtOnce, IsNotRetried) {
  std::atomic<int> calls = 0;
  auto handler = throwing(GetParam().thrower, calls);
  handler.retry.terminal_errors = {"CardDeclined"};
  DeliveringProcess process{open_store(database.url()), {std::move(handler)}, patient_options("p:1")};
  const Uuid id = publish_one(*store);
  await_status(id, Status::failed);
  EXPECT_EQ(calls.load(), 1);
  EXPECT_EQ(event(id).attempts, 1);
  EXPECT_EQ(event(id).error_class, GetParam().error_class);
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, TerminalAtOnce,
    testing::Values(TerminalKind{"TerminalError", [] { throw TerminalError{"never"}; }, "TerminalError"},
                    TerminalKind{"Subclass",
                                 [] {
                                   throw TerminalError{"AccountClosed", "gone"};
                                 },
                                 "AccountClosed"},
                    TerminalKind{"PayloadError", [] { throw PayloadError{"total is missing"}; }, "PayloadError"},
                    TerminalKind{"IntegrityViolation",
                                 [] {
                                   throw SqlError{"23505", "duplicate key"};
                                 },
                                 "IntegrityError"},
                    TerminalKind{"NamedByThePolicy",
                                 [] {
                                   throw HandlerError{"CardDeclined", "no funds"};
                                 },
                                 "CardDeclined"}),
    [](const auto& kind) { return kind.param.name; });

// Kolmogorov and Smirnov: the delays are spread evenly between nothing and the bound, at each attempt.
TEST(SeedsRetry, FullJitterDistribution) {
  const RetryPolicy policy = RetryPolicy::standard();
  constexpr std::size_t kSamples = 10'000;
  std::mt19937_64 random{20260425};
  std::uniform_real_distribution<double> uniform{0.0, 1.0};
  for (int attempt = 1; attempt <= 12; ++attempt) {
    const double bound = std::min(300.0, std::pow(2.0, attempt - 1));
    std::vector<double> parts;
    for (std::size_t i = 0; i < kSamples; ++i) {
      parts.push_back(std::chrono::duration<double>(policy.delay(attempt, uniform(random))).count() / bound);
    }
    std::sort(parts.begin(), parts.end());
    double distance = 0.0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      distance = std::max(distance, std::abs(parts[i] - static_cast<double>(i) / kSamples));
    }
    EXPECT_LT(distance, 1.63 / std::sqrt(static_cast<double>(kSamples))) << "attempt " << attempt;
  }
}

TEST_F(Seeds, NothingIsRetriedBeforeRetryAfterAcrossRestarts) {
  std::atomic<int> calls = 0;
  auto patient = throwing([] { throw std::runtime_error("not yet"); }, calls);
  patient.retry.base = std::chrono::hours{1};
  patient.retry.cap = std::chrono::hours{1};
  const Uuid id = publish_one(*store);
  for (int start = 1; start <= 3; ++start) {
    DeliveringProcess process{open_store(database.url()), {patient}, patient_options("p:" + std::to_string(start))};
    eventually([&] { return event(id).attempts == 1 && event(id).status == Status::pending; });
    const Uuid other = publish_one(*store);  // shows that this process has looked
    eventually([&] { return event(other).attempts == 1; });
  }
  EXPECT_EQ(calls.load(), 4) << "once for the event, once for each other";
}

TEST_F(Seeds, GenerationIsolation) {
  Journal first_journal;
  Journal second_journal;
  auto of_generation = [](Generation generation) {
    auto options = patient_options("p:" + std::to_string(generation));
    options.worker.generation = generation;
    return options;
  };
  DeliveringProcess first{open_store(database.url()), {journalling("tests.journal", first_journal)}, of_generation(1)};
  DeliveringProcess second{
      open_store(database.url()), {journalling("tests.journal", second_journal)}, of_generation(2)};
  for (auto* process : {&first, &second}) {
    eventually([&] { return (*process)->listener_state() == runtime::ListenerState::listening; });
  }
  const auto heard = second->listener_counts().notifications;
  std::vector<Uuid> old;
  for (int i = 0; i < 20; ++i) old.push_back(publish_one(*store));
  for (const Uuid& id : old) first_journal.await("tests.journal", id);
  EXPECT_EQ(second_journal.size(), 0U) << "generation 2 never sees generation 1's rows";
  EXPECT_EQ(second->listener_counts().notifications, heard) << "nor its NOTIFY";
  store::NewEvent newer = an_event();
  newer.generation = 2;
  second_journal.await("tests.journal", publish_one(*store, newer));
  EXPECT_EQ(first_journal.size(), 20U);
}

// A handler that has handled an event is not run again by a replay: the event is delivered without it.
TEST_F(Seeds, ReplayDedup) {
  std::atomic<bool> broken = true;
  RegisteredHandler flaky{.subscription = {.handler_name = "tests.flaky"},
                          .handler =
                              [&](const EventEnvelope& one) {
                                if (broken) throw TerminalError{"broken"};
                                journal.write("tests.flaky", one.event_id());
                              },
                          .retry = quick_retry()};
  DeliveringProcess process{
      open_store(database.url()), {journalling("tests.steady", journal), std::move(flaky)}, patient_options("p:1")};
  const Uuid id = publish_one(*store);
  await_status(id, Status::failed);
  EXPECT_EQ(journal.times("tests.steady", id), 1);
  broken = false;
  ASSERT_TRUE(store->replay(id, 1, {"alice", "cli", "fixed"}));
  await_status(id, Status::delivered);
  EXPECT_EQ(journal.times("tests.steady", id), 1) << "handled before: no second side effect";
  EXPECT_EQ(journal.times("tests.flaky", id), 1);
}

TEST_F(Seeds, ReplayIntoANewGeneration) {
  std::atomic<int> calls = 0;
  const Uuid id = publish_one(*store);
  {
    DeliveringProcess old{
        open_store(database.url()), {throwing([] { throw TerminalError{"a bug"}; }, calls)}, patient_options("p:1")};
    await_status(id, Status::failed);
  }
  auto options = patient_options("p:2");
  options.worker.generation = 2;
  DeliveringProcess fixed{open_store(database.url()), {journalling("tests.thrower", journal)}, options};
  eventually([&] { return fixed->listener_state() == runtime::ListenerState::listening; });
  ASSERT_TRUE(store->replay(id, 2, {"alice", "cli", "fixed in 2"}));
  await_status(id, Status::delivered);
  EXPECT_EQ(event(id).generation, 2);
  const auto history = json::elements(event(id).failure_history, "history");
  ASSERT_TRUE(history);
  EXPECT_EQ(history->size(), 1U);
}

TEST_F(Seeds, ReaperAfterTheClaimTtl) {
  EXPECT_EQ(store::ClaimRequest{}.ttl, 300s) << "the default";
  const Uuid id = publish_one(*store);
  store::ClaimRequest request;
  request.worker = "dead";
  request.ttl = 1ms;
  ASSERT_EQ(store->claim(request)->size(), 1U);
  auto options = patient_options("p:1");
  options.reap_interval = 5ms;
  DeliveringProcess process{open_store(database.url()), {journalling("tests.journal", journal)}, options};
  await_status(id, Status::delivered);
  EXPECT_EQ(event(id).attempts, 1) << "an expired claim counts";
}

// Many reapers at once take each expired claim back once.
TEST_F(Seeds, ManyReapers) {
  std::vector<Uuid> ids;
  for (int i = 0; i < 40; ++i) ids.push_back(publish_one(*store));
  store::ClaimRequest request;
  request.worker = "dead";
  request.ttl = 1ms;
  request.limit = 40;
  ASSERT_EQ(store->claim(request)->size(), 40U);
  std::vector<std::unique_ptr<DeliveringProcess>> processes;
  for (int i = 0; i < 4; ++i) {
    auto options = patient_options("p:" + std::to_string(i));
    options.reap_interval = 1ms;
    processes.push_back(std::make_unique<DeliveringProcess>(
        open_store(database.url()), std::vector<RegisteredHandler>{journalling("tests.journal", journal)}, options));
  }
  for (const Uuid& id : ids) {
    await_status(id, Status::delivered);
    EXPECT_EQ(event(id).attempts, 1);
    EXPECT_EQ(journal.times("tests.journal", id), 1);
  }
}

TEST(SeedsRetention, RetentionInequality) {
  RetentionPolicies policies;
  EXPECT_TRUE(policies.validate());
  EXPECT_GT(policies.event_handled.active, policies.outbox.active + policies.outbox.grace);
  policies.event_handled.active = policies.outbox.active + policies.outbox.grace;
  ASSERT_FALSE(policies.validate()) << "equal is not enough";
  EXPECT_EQ(policies.validate().error().field, "event_handled.active");
}

}  // namespace
}  // namespace sluice::test
