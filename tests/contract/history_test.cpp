// The history of deliveries: what several processes write adds up, and what is old is forgotten.
#include "core/history.hpp"

#include <thread>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    minute_ = std::chrono::floor<std::chrono::minutes>(must(store().now()));
  }
  HistoryRow row(HistoryCounts counts, HistoryKind kind = HistoryKind::all, std::string name = {}) {
    return {minute_, {kind, std::move(name)}, std::move(counts)};
  }
  void record(const std::vector<HistoryRow>& rows) { must(store().record_history(rows)); }
  std::vector<HistoryRow> read(bool hourly, HistoryKind kind = HistoryKind::all, std::optional<std::string> name = {}) {
    return must(store().history({hourly, minute_ - std::chrono::hours{24 * 60}, minute_ + 1h, kind, std::move(name)}));
  }
  static HistoryCounts counts(std::int64_t delivered, Duration took) {
    HistoryCounts made;
    made.delivered = delivered;
    made.first.add(took, delivered);
    return made;
  }

  Timestamp minute_{};
};
SLUICE_OVER_EVERY_STORE(HistoryContract);

TEST_P(HistoryContract, ReadsBackWhatWasWritten) {
  HistoryCounts written = counts(5, 3ms);
  written.replayed = 1;
  written.failed = 2;
  written.retried = 3;
  written.later.add(2s);
  written.replays.add(7us, 4);
  written.newest = 1000;
  written.lag_ms = 12;
  record({row(written)});
  const auto minutes = read(false);
  ASSERT_THAT(minutes, SizeIs(1));
  EXPECT_EQ(minutes[0].at, minute_);
  EXPECT_EQ(minutes[0].counts, written);
  const auto hours = read(true);
  ASSERT_THAT(hours, SizeIs(1));
  EXPECT_EQ(hours[0].at, std::chrono::floor<std::chrono::hours>(minute_));
  EXPECT_EQ(hours[0].counts, written);
}

TEST_P(HistoryContract, ProcessesAddUp) {
  HistoryCounts one = counts(5, 3ms);
  one.backlog = 7;
  HistoryCounts other = counts(4, 3ms);
  other.first.add(1s);
  other.backlog = 3;
  record({row(one)});
  must(second_store()->record_history(std::vector{row(other)}));
  HistoryCounts sum = one;
  sum.add(other);
  ASSERT_THAT(read(false), SizeIs(1));
  EXPECT_EQ(read(false)[0].counts, sum);
  EXPECT_EQ(read(true)[0].counts, sum);
  EXPECT_EQ(sum.delivered, 9);
  EXPECT_EQ(sum.backlog, 7);
}

TEST_P(HistoryContract, ProcessesAddUpAtTheSameTime) {
  constexpr int kTimes = 20;
  const auto write = [&](store::Store& own) {
    for (int i = 0; i < kTimes; ++i) {
      must(own.record_history(std::vector{row(counts(1, 3ms)), row(counts(2, 3ms), HistoryKind::type, "a.b")}));
    }
  };
  const auto second = second_store();
  std::thread other{[&] { write(*second); }};
  write(store());
  other.join();
  EXPECT_EQ(read(false)[0].counts.delivered, 2 * kTimes);
  EXPECT_EQ(read(false, HistoryKind::type)[0].counts.first.count(), 4 * kTimes);
}

TEST_P(HistoryContract, AnHourIsTheSumOfItsMinutes) {
  const Timestamp hour = std::chrono::floor<std::chrono::hours>(minute_) - 1h;
  std::vector<HistoryRow> rows;
  for (int n = 0; n < 60; n += 7) {
    rows.push_back({hour + std::chrono::minutes{n}, {}, counts(n + 1, Duration{n * 1000})});
  }
  record(rows);
  HistoryCounts sum;
  for (const HistoryRow& each : read(false)) sum.add(each.counts);
  ASSERT_THAT(read(true), SizeIs(1));
  EXPECT_EQ(read(true)[0].counts, sum);
}

TEST_P(HistoryContract, SeriesAreApart) {
  record({row(counts(1, 1ms)), row(counts(2, 1ms), HistoryKind::handler, "billing.mailer"),
          row(counts(3, 1ms), HistoryKind::handler, "crm.sync"), row(counts(4, 1ms), HistoryKind::sink, "crm.sync")});
  EXPECT_THAT(read(false), SizeIs(1));
  EXPECT_THAT(read(false, HistoryKind::handler), SizeIs(2));
  const auto own = read(false, HistoryKind::handler, "crm.sync");
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_EQ(own[0].counts.delivered, 3);
  EXPECT_EQ(own[0].series.name, "crm.sync");
  EXPECT_THAT(read(false, HistoryKind::handler, "nobody"), IsEmpty());
}

TEST_P(HistoryContract, MinutesAreKeptForADayAndHoursForFortyFive) {
  record({row(counts(1, 1ms))});
  age(25h);
  minute_ = std::chrono::floor<std::chrono::minutes>(must(store().now()));
  record({row(counts(2, 1ms))});
  ASSERT_THAT(read(false), SizeIs(1));
  EXPECT_EQ(read(false)[0].counts.delivered, 2);
  EXPECT_THAT(read(true), SizeIs(2));
  age(std::chrono::hours{24 * 45});
  minute_ = std::chrono::floor<std::chrono::minutes>(must(store().now()));
  record({row(counts(3, 1ms))});
  ASSERT_THAT(read(true), SizeIs(1));
  EXPECT_EQ(read(true)[0].counts.delivered, 3);
}

}  // namespace
}  // namespace sluice::contract
