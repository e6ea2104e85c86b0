#include "ops/await_event.hpp"

#include <gtest/gtest.h>

#include "tests/cli/fake_store.hpp"

namespace sluice::ops {
namespace {

using std::chrono::seconds;
using Ending = Awaited::Ending;

class Awaiting : public testing::Test {
 protected:
  Awaiting() { data_.events.push_back(test::a_record(test::id_of(1))); }

  Result<Awaited> await(Duration timeout = seconds{10}) {
    return await_event(store_, test::id_of(1), timeout,
                       {[this](Duration pause) {
                          elapsed_ += pause;
                          ++pauses_;
                          return pauses_ != interrupt_at_;
                        },
                        [this] { return elapsed_; }});
  }

  test::FakeData data_;
  test::FakeStore store_{data_};
  Duration elapsed_{};
  int pauses_ = 0;
  int interrupt_at_ = -1;
};

TEST_F(Awaiting, ReturnsAtOnceWhenItIsOver) {
  data_.next_statuses = {Status::delivered};
  EXPECT_EQ(await()->ending, Ending::delivered);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(Awaiting, LooksUntilItIsOver) {
  data_.next_statuses = {Status::pending, Status::in_flight, Status::failed};
  EXPECT_EQ(await()->ending, Ending::failed);
  EXPECT_EQ(pauses_, 2);
}

TEST_F(Awaiting, GivesUpAtTheTimeoutAndNotLater) {
  EXPECT_EQ(await(seconds{3})->ending, Ending::timed_out);
  EXPECT_EQ(elapsed_, seconds{3});
}

TEST_F(Awaiting, LooksOnceEvenWithoutTime) {
  data_.next_statuses = {Status::delivered};
  EXPECT_EQ(await(Duration::zero())->ending, Ending::delivered);
}

TEST_F(Awaiting, StopsWhenInterrupted) {
  interrupt_at_ = 2;
  EXPECT_EQ(await()->ending, Ending::interrupted);
}

TEST_F(Awaiting, PassesAnErrorOn) {
  data_.failures["get_event"] = {ErrorCode::unavailable, Retry::safe, "away", "", ""};
  EXPECT_EQ(await().error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
