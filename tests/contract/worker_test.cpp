#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::WorkerRecord;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class WorkerContract : public StoreContract {
 protected:
  void announce(const std::string& identity, const std::string& listener = "listening") {
    must(store().announce({.identity = identity,
                           .generation = 3,
                           .handlers = {"worlds.indexer", "billing.meter"},
                           .listener = listener}));
  }
  std::vector<WorkerRecord> workers(Duration within = 1min) { return must(store().workers(within)); }
};
SLUICE_OVER_EVERY_STORE(WorkerContract);

auto named(const char* identity) { return Field(&WorkerRecord::identity, identity); }

TEST_P(WorkerContract, NobodyIsThereAtFirst) { EXPECT_THAT(workers(), IsEmpty()); }

TEST_P(WorkerContract, AWorkerTellsWhoItIs) {
  const Timestamp before = must(store().now());
  announce("host-7");
  const auto seen = must(second_store()->workers(1min));
  ASSERT_THAT(seen, ElementsAre(named("host-7")));
  EXPECT_EQ(seen[0].generation, 3);
  EXPECT_THAT(seen[0].handlers, ElementsAre("worlds.indexer", "billing.meter"));
  EXPECT_EQ(seen[0].listener, "listening");
  EXPECT_GE(seen[0].seen_at, before);
  EXPECT_EQ(seen[0].started_at, seen[0].seen_at);
}

TEST_P(WorkerContract, AWorkerWithoutHandlersIsAWorker) {
  must(store().announce({.identity = "host-7"}));
  EXPECT_THAT(workers().at(0).handlers, IsEmpty());
}

TEST_P(WorkerContract, AnnouncingAgainRenews) {
  announce("host-7");
  age(40s);
  announce("host-7", "deaf");
  const auto seen = workers(10s);
  ASSERT_THAT(seen, ElementsAre(named("host-7")));
  EXPECT_EQ(seen[0].listener, "deaf");
  EXPECT_GE(seen[0].seen_at, seen[0].started_at + 40s);
}

TEST_P(WorkerContract, WhoWasNotSeenLatelyIsLeftOut) {
  announce("host-1");
  age(2min);
  announce("host-2");
  EXPECT_THAT(workers(1min), ElementsAre(named("host-2")));
  EXPECT_THAT(workers(5min), ElementsAre(named("host-1"), named("host-2")));
}

TEST_P(WorkerContract, WhoDepartsIsGone) {
  announce("host-1");
  announce("host-2");
  must(store().depart("host-1"));
  must(store().depart("nobody"));
  EXPECT_THAT(workers(), ElementsAre(named("host-2")));
}

TEST_P(WorkerContract, AfterADayWithoutAWordAWorkerIsForgotten) {
  announce("host-1");
  age(25h);
  announce("host-2");
  EXPECT_THAT(workers(48h), ElementsAre(named("host-2")));
}

}  // namespace
}  // namespace sluice::contract
