#include "sink/switched_sink.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::sink {
namespace {

using std::chrono::milliseconds;

SinkStatus described(const DeliveryTally& tally) {
  SinkStatus status;
  tally.describe(status);
  return status;
}

TEST(DeliveryTally, CountsWhatWasDeliveredAndWhatFailedAndNotWhatWaits) {
  DeliveryTally tally;
  const Timestamp now{std::chrono::seconds{5}};
  const std::vector<Verdict> verdicts{Verdict::handled(), Verdict::failed("http_503", "busy"),
                                      Verdict::defer_until(now), Verdict::handled()};
  tally.record(verdicts, now);
  const SinkStatus status = described(tally);
  EXPECT_EQ(status.delivered, 2);
  EXPECT_EQ(status.failed, 1);
  EXPECT_EQ(status.last_error, "http_503: busy");
  EXPECT_EQ(status.last_failed_at, now);
}

TEST(DeliveryTally, KnowsWhatIsUnderWay) {
  DeliveryTally tally;
  {
    const DeliveryTally::UnderWay three{tally, 3};
    const DeliveryTally::UnderWay one{tally, 1};
    EXPECT_EQ(described(tally).in_flight, 4);
  }
  EXPECT_EQ(described(tally).in_flight, 0);
}

TEST(DeliveryTally, PercentilesAreMeasuredValues) {
  DeliveryTally tally;
  EXPECT_EQ(described(tally).p50_ms, 0);
  tally.record_latency(milliseconds{7});
  EXPECT_EQ(described(tally).p50_ms, 7);
  EXPECT_EQ(described(tally).p95_ms, 7);
  for (int i = 1; i <= 99; ++i) tally.record_latency(milliseconds{100 + i});
  EXPECT_EQ(described(tally).p50_ms, 149);
  EXPECT_EQ(described(tally).p95_ms, 194);
}

TEST(DeliveryTally, ForgetsOldLatencies) {
  DeliveryTally tally;
  for (int i = 0; i < 100; ++i) tally.record_latency(milliseconds{9000});
  for (int i = 0; i < 512; ++i) tally.record_latency(milliseconds{1});
  EXPECT_EQ(described(tally).p95_ms, 1);
}

}  // namespace
}  // namespace sluice::sink
