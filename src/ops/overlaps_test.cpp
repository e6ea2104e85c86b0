// Operations under way that have the same events before them: a dry run tells, and a plan does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/operations.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

const store::Actor kCarol{"carol", "cli", "upstream is back"};

class Overlaps : public testing::Test {
 protected:
  Overlaps() {
    for (int number = 1; number <= 5; ++number) {
      store_.publish(test::id_of(number));
      store_.fail(test::id_of(number));
    }
  }
  host::Entropy entropy() {
    return {[this] { return store_.now; }, [this] { return std::array<std::uint8_t, 10>{++random_}; }};
  }
  BulkPlan plan(const BulkRequest& request = {}) { return test::must(plan_bulk(*store_, request, kCarol, entropy())); }
  BulkForecast dry_run(const BulkRequest& request = {}) {
    return test::must(forecast_bulk(*store_, request, kCarol, entropy()));
  }
  void start(const BulkPlan& planned) {
    const auto& operation = planned.operation;
    test::must(store_->start_operation(operation.id, operation.progress.counts.total, {}, kCarol));
  }

  test::EmbeddedStore store_;
  std::uint8_t random_ = 0;
};

TEST_F(Overlaps, ADryRunByFilterTellsWhatIsUnderWay) {
  const auto forecast = [&](const std::string& filter, OperationKind kind = OperationKind::replay) {
    BulkRequest request;
    request.kind = kind;
    request.query = test::must(EventQuery::parse(filter));
    return dry_run(request);
  };
  BulkRequest three;
  three.event_ids = {test::id_of(1), test::id_of(2), test::id_of(3)};
  const BulkPlan first = plan(three);
  EXPECT_THAT(forecast("").overlaps, testing::IsEmpty()) << "nobody has started it";
  start(first);
  ASSERT_EQ(forecast("").overlaps.size(), 1U);
  EXPECT_EQ(forecast("").overlaps[0].operation_id, first.operation.id);
  EXPECT_EQ(forecast("").overlaps[0].events, 3);
  EXPECT_EQ(forecast("id:" + test::id_of(2).to_string()).overlaps.at(0).events, 1);
  EXPECT_THAT(forecast("id:" + test::id_of(4).to_string()).overlaps, testing::IsEmpty());
  EXPECT_EQ(forecast("", OperationKind::discard).overlaps.size(), 1U) << "whoever discards them is to know, too";
  EXPECT_THAT(to_json(forecast(""), OperationKind::replay),
              HasSubstr(R"("overlaps":[{"operation_id":")" + first.operation.id.to_string()));
  EXPECT_EQ(dry_run(three).overlaps.size(), 1U) << "and by id";
  test::must(store_->change_operation(first.operation.id, {store::OperationChange::What::cancel, 0}, kCarol));
  EXPECT_THAT(forecast("").overlaps, testing::IsEmpty()) << "what is over takes no more";
}

TEST_F(Overlaps, ALongOperationIsLookedAtFromWhereItIs) {
  const BulkPlan first = plan();
  start(first);
  const std::string id = first.operation.id.to_string();
  const std::string done = std::to_string(kOverlapLook);
  store_.sql("update operation_items set place = place + " + done + " where operation_id = '" + id + "'");
  store_.sql("with recursive n (i) as (select 1 union all select i + 1 from n where i < " + done +
             ") insert into operation_items (operation_id, place, event_id, claim_seq, cycle, state) select '" + id +
             "', i, printf('%08x-0000-7000-8000-000000000000', i), 1, 0, 'delivered' from n");
  store_.sql("update operations set total = total + " + done + ", taken = " + done + ", delivered = " + done +
             " where id = '" + id + "'");
  EXPECT_EQ(plan().overlaps.at(0).events, 5);
  EXPECT_EQ(dry_run().overlaps.at(0).events, 5);
}

}  // namespace
}  // namespace sluice::ops
