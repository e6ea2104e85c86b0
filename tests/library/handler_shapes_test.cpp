// Every shape that a handler may have is taken for what it is, and runs.
#include <gmock/gmock.h>

#include "tests/library/public_api.hpp"

namespace sluice::test {
namespace {

using Events = std::span<const EventEnvelope>;

struct Shape {
  std::string name;
  std::size_t index;  ///< in EventHandler::Shape
  std::function<EventHandler(Notes&)> make;
};

constexpr std::size_t kEach = 0;
constexpr std::size_t kCoroutine = 1;
constexpr std::size_t kBatch = 2;
constexpr std::size_t kEachOnce = 3;
constexpr std::size_t kBatchOnce = 4;

template <std::size_t index, class Wanted>
constexpr bool is_at = std::is_same_v<std::variant_alternative_t<index, EventHandler::Shape>, Wanted>;
static_assert(is_at<kEach, EventHandler::Each> && is_at<kCoroutine, EventHandler::Coroutine>);
static_assert(is_at<kBatch, EventHandler::Batch> && is_at<kEachOnce, EventHandler::EachOnce>);
static_assert(is_at<kBatchOnce, EventHandler::BatchOnce>);

// One program's free functions, lambdas and objects are implicitly handlers.
static_assert(std::is_convertible_v<void (*)(const EventEnvelope&), EventHandler>);
static_assert(std::is_convertible_v<Verdict (*)(const EventEnvelope&, const Delivery&), EventHandler>);
static_assert(std::is_convertible_v<Task (*)(const EventEnvelope&), EventHandler>);
static_assert(std::is_convertible_v<std::vector<Verdict> (*)(Events), EventHandler>);
static_assert(std::is_convertible_v<void (*)(Events, Transaction&, const Delivery&), EventHandler>);
static_assert(std::is_convertible_v<std::function<Verdict(const EventEnvelope&, Transaction&)>, EventHandler>);

Notes* noted_by_function = nullptr;
void a_function(const EventEnvelope& event) { noted_by_function->add(event.event_type()); }

struct AnObject {
  Notes* notes;
  void operator()(const EventEnvelope& event) const { notes->add(event.event_type()); }
};

void expect_one(const Delivery& delivery) {
  EXPECT_EQ(delivery.handler_name, "tests.handler");
  EXPECT_EQ(delivery.generation, 1);
  EXPECT_THAT(delivery.attempts, testing::ElementsAre(0));
  EXPECT_FALSE(delivery.stop.stop_requested());
}

void expect_usable(Transaction& transaction) {
  EXPECT_EQ(transaction.query("select $1", {"here"}).at(0).at(0), "here");
  EXPECT_NE(transaction.sqlite(), nullptr);
  EXPECT_EQ(transaction.postgres(), nullptr);
}

const std::vector<Shape> kShapes{
    {"Function", kEach,
     [](Notes& notes) {
       noted_by_function = &notes;
       return EventHandler{a_function};
     }},
    {"Object", kEach, [](Notes& notes) { return EventHandler{AnObject{&notes}}; }},
    {"StdFunction", kEach,
     [](Notes& notes) { return EventHandler{std::function<void(const EventEnvelope&)>{AnObject{&notes}}}; }},
    {"Stateful", kEach,
     [](Notes& notes) {
       return EventHandler{[&notes, calls = 0](const EventEnvelope& event) mutable {
         if (++calls == 1) notes.add(event.event_type());
       }};
     }},
    {"Verdict", kEach,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event) {
         notes.add(event.event_type());
         return Verdict::handled();
       }};
     }},
    {"Delivery", kEach,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event, const Delivery& delivery) {
         expect_one(delivery);
         notes.add(event.event_type());
       }};
     }},
    {"Coroutine", kCoroutine,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event) -> Task {
         notes.add(event.event_type());
         co_return;
       }};
     }},
    {"CoroutineDelivery", kCoroutine,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event, const Delivery& delivery) -> Task {
         expect_one(delivery);
         notes.add(event.event_type());
         co_return;
       }};
     }},
    {"Batch", kBatch,
     [](Notes& notes) { return EventHandler{[&](Events events) { notes.add(events.front().event_type()); }}; }},
    {"BatchVerdicts", kBatch,
     [](Notes& notes) {
       return EventHandler{[&](Events events) {
         notes.add(events.front().event_type());
         return std::vector<Verdict>(events.size());
       }};
     }},
    {"BatchDelivery", kBatch,
     [](Notes& notes) {
       return EventHandler{[&](Events events, const Delivery& delivery) {
         expect_one(delivery);
         notes.add(events.front().event_type());
       }};
     }},
    {"Once", kEachOnce,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event, Transaction& transaction) {
         expect_usable(transaction);
         notes.add(event.event_type());
       }};
     }},
    {"OnceVerdictDelivery", kEachOnce,
     [](Notes& notes) {
       return EventHandler{[&](const EventEnvelope& event, Transaction& transaction, const Delivery& delivery) {
         expect_usable(transaction);
         expect_one(delivery);
         notes.add(event.event_type());
         return Verdict::handled();
       }};
     }},
    {"BatchOnce", kBatchOnce,
     [](Notes& notes) {
       return EventHandler{[&](Events events, Transaction& transaction) {
         expect_usable(transaction);
         notes.add(events.front().event_type());
       }};
     }},
    {"BatchOnceDelivery", kBatchOnce,
     [](Notes& notes) {
       return EventHandler{[&](Events events, Transaction& transaction, const Delivery& delivery) {
         expect_usable(transaction);
         expect_one(delivery);
         notes.add(events.front().event_type());
       }};
     }},
};

class HandlerShapes : public PublicApi, public testing::WithParamInterface<Shape> {};

TEST_P(HandlerShapes, IsRecognisedAndRuns) {
  Notes notes;
  EventHandler handler = GetParam().make(notes);
  EXPECT_EQ(handler.shape().index(), GetParam().index);
  auto running = listener();
  required(running.listen({.handler_name = "tests.handler"}, std::move(handler)));
  publish();
  required(running.start());
  EXPECT_THAT(notes.await(1), testing::ElementsAre("test.happened"));
  running.stop();
  EXPECT_EQ(running.status().delivered, 1);
  EXPECT_EQ(running.status().retried, 0);
}

INSTANTIATE_TEST_SUITE_P(All, HandlerShapes, testing::ValuesIn(kShapes),
                         [](const testing::TestParamInfo<Shape>& shape) { return shape.param.name; });

}  // namespace
}  // namespace sluice::test
