#include "ops/publish_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <atomic>
#include <latch>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using store::NewEvent;
using store::PublishOutcome;
using testing::ElementsAre;

NewEvent an_event(int number) {
  EnvelopeDraft draft;
  draft.event_id = test::id_of(number);
  draft.event_type = "demo.hello";
  draft.source = "demo";
  draft.occurred_at = test::kStart;
  return NewEvent{.envelope = EventEnvelope::trusted(std::move(draft))};
}

NewEvent a_refused_event(int number) {
  NewEvent event = an_event(number);
  event.channel = std::string(64, 'c');
  return event;
}

/// What one submission was told.
struct Told {
  int times = 0;
  std::vector<PublishOutcome> outcomes;
  std::optional<Error> error;
  std::vector<Uuid> ids;

  PublishQueue::Done done() {
    return [this](std::span<const NewEvent> events, const PublishQueue::Outcomes& result) {
      ++times;
      for (const NewEvent& event : events) ids.push_back(event.envelope.event_id());
      if (result) outcomes = *result;
      if (!result) error = result.error();
    };
  }
};

class PublishQueueTest : public testing::Test {
 protected:
  test::EmbeddedStore store_;
  test::FaultyAdministering faulty_{store_};
  PublishQueue queue_{faulty_};
  Told first_;
  Told second_;
  Told third_;
};

TEST_F(PublishQueueTest, WhatIsRefusedBeforehandTakesNoOtherDown) {
  PublishQueue checking{faulty_, {.check = [](const NewEvent& event) -> Result<void> {
                          if (event.generation == 999) return no_such_generation(999);
                          return {};
                        }}};
  NewEvent stray = an_event(2);
  stray.generation = 999;
  checking.submit({an_event(1), stray}, first_.done());
  checking.submit({an_event(3)}, second_.done());
  EXPECT_TRUE(checking.step());
  ASSERT_TRUE(first_.error);
  EXPECT_EQ(first_.error->field, "generation");
  EXPECT_THAT(second_.outcomes, ElementsAre(PublishOutcome::published));
  EXPECT_EQ(store_.events().size(), 1U);
}

TEST_F(PublishQueueTest, WhatWaitsIsStoredInOneCallAndEachIsToldItsOwn) {
  queue_.submit({an_event(1)}, first_.done());
  queue_.submit({an_event(2), an_event(3)}, second_.done());
  queue_.submit({an_event(2)}, third_.done());
  EXPECT_EQ(first_.times, 0);
  const int before = faulty_.calls();
  EXPECT_TRUE(queue_.step());
  EXPECT_EQ(faulty_.calls() - before, 1);
  EXPECT_THAT(first_.outcomes, ElementsAre(PublishOutcome::published));
  EXPECT_THAT(second_.outcomes, ElementsAre(PublishOutcome::published, PublishOutcome::published));
  EXPECT_THAT(second_.ids, ElementsAre(test::id_of(2), test::id_of(3)));
  EXPECT_THAT(third_.outcomes, ElementsAre(PublishOutcome::duplicate));
  EXPECT_EQ(store_.events().size(), 3U);
  EXPECT_FALSE(queue_.step());
}

TEST_F(PublishQueueTest, ARefusedSubmissionTakesNoNeighbourDown) {
  queue_.submit({an_event(1)}, first_.done());
  queue_.submit({an_event(2), a_refused_event(3)}, second_.done());
  queue_.submit({an_event(4)}, third_.done());
  queue_.step();
  EXPECT_THAT(first_.outcomes, ElementsAre(PublishOutcome::published));
  ASSERT_TRUE(second_.error);
  EXPECT_EQ(second_.error->code, ErrorCode::invalid);
  EXPECT_THAT(third_.outcomes, ElementsAre(PublishOutcome::published));
  EXPECT_EQ(store_->get_event(test::id_of(2)).error().code, ErrorCode::not_found);
  EXPECT_EQ(first_.times + second_.times + third_.times, 3);
}

TEST_F(PublishQueueTest, AStoreThatIsAwayIsToldToEveryoneAfterOneCall) {
  queue_.submit({an_event(1)}, first_.done());
  queue_.submit({an_event(2)}, second_.done());
  faulty_.fail_call(1, test::Fault::before, 10);
  queue_.step();
  ASSERT_TRUE(first_.error && second_.error);
  EXPECT_EQ(first_.error->retry, Retry::safe);
  EXPECT_EQ(faulty_.calls(), 1);
  EXPECT_TRUE(store_.events().empty());
}

TEST_F(PublishQueueTest, ALostAnswerIsInDoubtAndMayBeRepeated) {
  queue_.submit({an_event(1)}, first_.done());
  queue_.submit({an_event(2)}, second_.done());
  faulty_.fail_call(1, test::Fault::after);
  queue_.step();
  ASSERT_TRUE(first_.error && second_.error);
  EXPECT_EQ(first_.error->retry, Retry::in_doubt);
  EXPECT_EQ(second_.error->retry, Retry::in_doubt);
  queue_.submit({an_event(1)}, third_.done());
  queue_.step();
  EXPECT_THAT(third_.outcomes, ElementsAre(PublishOutcome::duplicate));
  EXPECT_EQ(store_.events().size(), 2U);
}

TEST_F(PublishQueueTest, AFullQueueRefusesAtOnce) {
  PublishQueue queue{faulty_, {.max_events = 2}};
  queue.submit({an_event(1)}, first_.done());
  queue.submit({an_event(2), an_event(3)}, second_.done());
  ASSERT_TRUE(second_.error);
  EXPECT_EQ(second_.error->code, ErrorCode::exhausted);
  EXPECT_EQ(second_.error->retry, Retry::safe);
  queue.step();
  EXPECT_THAT(first_.outcomes, ElementsAre(PublishOutcome::published));
  queue.submit({an_event(2), an_event(3)}, third_.done());
  queue.step();
  EXPECT_EQ(third_.outcomes.size(), 2U);
}

TEST_F(PublishQueueTest, PayloadsThatWaitAreBoundedToo) {
  PublishQueue queue{faulty_, {.max_bytes = 3}};
  queue.submit({an_event(1)}, first_.done());
  queue.submit({an_event(2)}, second_.done());
  ASSERT_TRUE(second_.error);
  EXPECT_EQ(second_.error->code, ErrorCode::exhausted);
}

TEST_F(PublishQueueTest, ASubmissionThatIsLargerThanTheQueueIsStoredWhenItIsAlone) {
  PublishQueue queue{faulty_, {.max_events = 1, .batch_events = 1}};
  queue.submit({an_event(1), an_event(2)}, first_.done());
  queue.step();
  EXPECT_EQ(first_.outcomes.size(), 2U);
}

TEST_F(PublishQueueTest, ABatchHasItsLimit) {
  PublishQueue queue{faulty_, {.batch_events = 2}};
  queue.submit({an_event(1)}, first_.done());
  queue.submit({an_event(2), an_event(3)}, second_.done());
  queue.step();
  EXPECT_EQ(first_.times, 1);
  EXPECT_EQ(second_.times, 0);
  queue.step();
  EXPECT_EQ(second_.times, 1);
}

TEST_F(PublishQueueTest, EveryCommitIsTold) {
  int told = 0;
  const auto stored = [&](std::span<const store::NewEvent>, bool may_be_there) { told += may_be_there ? 1 : 0; };
  PublishQueue queue{faulty_, {.stored = stored}};
  queue.submit({an_event(1)}, first_.done());
  queue.submit({an_event(2)}, second_.done());
  queue.step();
  EXPECT_EQ(told, 1);
  queue.submit({a_refused_event(3)}, third_.done());
  queue.step();
  EXPECT_EQ(told, 1);
}

TEST_F(PublishQueueTest, AStopStoresWhatWaitsAndRefusesWhatComes) {
  queue_.submit({an_event(1)}, first_.done());
  queue_.stop();
  EXPECT_THAT(first_.outcomes, ElementsAre(PublishOutcome::published));
  queue_.submit({an_event(2)}, second_.done());
  ASSERT_TRUE(second_.error);
  EXPECT_EQ(second_.error->code, ErrorCode::unavailable);
}

TEST_F(PublishQueueTest, ManyPublishersAreAllTold) {
  constexpr int kThreads = 8;
  constexpr int kEach = 25;
  queue_.start();
  std::atomic<int> published = 0;
  std::latch told{static_cast<std::ptrdiff_t>(kThreads) * kEach};
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        queue_.submit({an_event(1 + thread * kEach + i)},
                      [&](std::span<const NewEvent>, const PublishQueue::Outcomes& result) {
                        if (result && result->front() == PublishOutcome::published) ++published;
                        told.count_down();
                      });
      }
    });
  }
  told.wait();
  threads.clear();
  queue_.stop();
  EXPECT_EQ(published, kThreads * kEach);
  EXPECT_EQ(store_->status()->counts.at(0).count, kThreads * kEach);
}

}  // namespace
}  // namespace sluice::ops
