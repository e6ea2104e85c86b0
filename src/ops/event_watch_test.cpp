#include "ops/event_watch.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using std::chrono::seconds;
using Ending = Awaited::Ending;

class Awaiting : public testing::Test {
 protected:
  Awaiting() { store_.publish(test::id_of(1)); }

  Result<Awaited> await(Duration timeout = seconds{10}) {
    return await_event(faulty_, test::id_of(1), timeout,
                       {[this](Duration pause) {
                          elapsed_ += pause;
                          ++pauses_;
                          if (!meanwhile_.empty()) {
                            meanwhile_.front()();
                            meanwhile_.pop_front();
                          }
                          return pauses_ != interrupt_at_;
                        },
                        [this] { return elapsed_; }});
  }

  test::EmbeddedStore store_;
  test::FaultyAdministering faulty_{store_};
  std::deque<std::function<void()>> meanwhile_;  // what a worker does during the n-th pause
  Duration elapsed_{};
  int pauses_ = 0;
  int interrupt_at_ = -1;
};

TEST_F(Awaiting, ReturnsAtOnceWhenItIsOver) {
  store_.deliver(test::id_of(1));
  EXPECT_EQ(await()->ending, Ending::delivered);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(Awaiting, LooksUntilItIsOver) {
  std::optional<store::ClaimedEvent> claimed;
  meanwhile_ = {[&] { claimed = store_.claim(test::id_of(1)); },
                [&] {
                  store_.settle(*claimed, Outcome::failed({"PayloadError", "bad", {}, true}));
                }};
  EXPECT_EQ(await()->ending, Ending::failed);
  EXPECT_EQ(pauses_, 2);
}

TEST_F(Awaiting, GivesUpAtTheTimeoutAndNotLater) {
  EXPECT_EQ(await(seconds{3})->ending, Ending::timed_out);
  EXPECT_EQ(elapsed_, seconds{3});
}

TEST_F(Awaiting, LooksOnceEvenWithoutTime) {
  store_.deliver(test::id_of(1));
  EXPECT_EQ(await(Duration::zero())->ending, Ending::delivered);
}

TEST_F(Awaiting, StopsWhenInterrupted) {
  interrupt_at_ = 2;
  EXPECT_EQ(await()->ending, Ending::interrupted);
}

TEST_F(Awaiting, PassesAnErrorOn) {
  faulty_.fail_verb("get_event", {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  EXPECT_EQ(await().error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
