// Fails the store at each call in turn: whatever the step, every event is delivered in the end.
#include "runtime/reaper.hpp"
#include "runtime/worker.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int kEvents = 12;  // two batches

// Rounds of worker and reaper, an hour apart, so that claims expire and retries fall due.
class Drive {
 public:
  Drive(store::Store& store, ScriptedHandler& handler, ManualClock& clock)
      : clock_(clock), worker_(store, handler.handlers()), reaper_(store, store, store, {}, {{}, [] { return 0.5; }}) {}

  void round() {
    (void)worker_.step();
    (void)worker_.step();
    clock_.advance(1h);
    (void)reaper_.step(100);
    clock_.advance(1h);
  }

 private:
  ManualClock& clock_;
  TestWorker worker_;
  Reaper reaper_;
};

class FailAtEachCall : public testing::TestWithParam<test::Fault> {};

TEST_P(FailAtEachCall, NothingIsLost) {
  int call = 1;
  for (bool reached = true; reached; ++call) {
    SCOPED_TRACE(call);
    ManualClock clock;
    TestStore store{[&clock] { return clock.now(); }};
    const auto ids = store.publish(test::events(kEvents));
    test::FaultyStore faulty{*store};
    ScriptedHandler handler;
    Drive drive{faulty, handler, clock};

    faulty.fail_call(call, GetParam());
    drive.round();
    reached = faulty.calls() >= call;
    for (int i = 0; i < 3; ++i) drive.round();

    for (const Uuid& id : ids) {
      const auto event = store.event(id);
      ASSERT_EQ(event.status, Status::delivered);
      ASSERT_LE(event.attempts, 1);
    }
    ASSERT_EQ(handler.delivered().size(), ids.size()) << "handled exactly once";
  }
  EXPECT_GT(call, 7) << "two batches take at least six calls";
}

INSTANTIATE_TEST_SUITE_P(Runtime, FailAtEachCall, testing::Values(test::Fault::before, test::Fault::after),
                         [](const testing::TestParamInfo<test::Fault>& fault) {
                           return fault.param == test::Fault::before ? "BeforeTheCall" : "AnswerLost";
                         });

TEST(LongOutage, NothingIsLostWhenTheReaperInheritsTheClaims) {
  ManualClock clock;
  TestStore store{[&clock] { return clock.now(); }};
  const auto ids = store.publish(test::events(kEvents));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler;
  Drive drive{faulty, handler, clock};
  faulty.fail_call(3, test::Fault::before, 40);
  while (faulty.calls() < 42) drive.round();
  for (int i = 0; i < 3; ++i) drive.round();
  for (const Uuid& id : ids) EXPECT_EQ(store.event(id).status, Status::delivered);
}

}  // namespace
}  // namespace sluice::runtime
