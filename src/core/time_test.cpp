#include <gtest/gtest.h>
#include <random>
#include <string>

#include <sluice/time.hpp>

namespace sluice {
namespace {

using namespace std::chrono_literals;

Timestamp at_s(std::int64_t seconds) { return Timestamp{std::chrono::seconds{seconds}}; }

Timestamp parsed(std::string_view text) {
  const auto at = parse_iso8601(text);
  EXPECT_TRUE(at) << text;
  return at ? *at : Timestamp{};
}

TEST(Iso8601, AlwaysUtcWithSixDecimals) {
  EXPECT_EQ(to_iso8601(Timestamp{}), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_iso8601(at_s(1777081382)), "2026-04-25T01:43:02.000000Z");
  EXPECT_EQ(to_iso8601(Timestamp{-1us}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_iso8601(parsed("0001-01-01T00:00:00Z")), "0001-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_iso8601(parsed("9999-12-31T23:59:59.999999Z")), "9999-12-31T23:59:59.999999Z");
}

TEST(Iso8601, OffsetsSeparatorsAndCaseAreAccepted) {
  const Timestamp at = at_s(1777081382);
  for (const std::string_view text :
       {"2026-04-25T01:43:02Z", "2026-04-25 01:43:02Z", "2026-04-25t01:43:02z", "2026-04-25T03:43:02+02:00",
        "2026-04-24T20:13:02-05:30", "2026-04-25 01:43:02+00", "2026-04-25 07:13:02+0530",
        "2026-04-25T01:43:02.000000000Z"}) {
    EXPECT_EQ(parsed(text), at) << text;
  }
}

TEST(Iso8601, FractionsAreMicrosecondsAndTheRestIsDropped) {
  EXPECT_EQ(parsed("1970-01-01T00:00:00.5Z"), Timestamp{500ms});
  EXPECT_EQ(parsed("1970-01-01T00:00:00.000001Z"), Timestamp{1us});
  EXPECT_EQ(parsed("1970-01-01T00:00:00.123456789Z"), Timestamp{123456us});
}

TEST(Iso8601, KnowsLeapYears) {
  EXPECT_TRUE(parse_iso8601("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_iso8601("2000-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_iso8601("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_iso8601("1900-02-29T00:00:00Z"));
}

TEST(Iso8601, RefusesBadTextsAndNamesTheField) {
  for (const std::string_view bad : {"",
                                     "now",
                                     "2026-04-25",
                                     "2026-04-25T01:43:02",
                                     "2026-04-25T01:43Z",
                                     "2026-13-01T00:00:00Z",
                                     "2026-00-01T00:00:00Z",
                                     "2026-04-31T00:00:00Z",
                                     "2026-04-00T00:00:00Z",
                                     "2026-04-25T24:00:00Z",
                                     "2026-04-25T01:60:00Z",
                                     "2026-04-25T01:43:60Z",
                                     "2026-04-25T01:43:02.Z",
                                     "2026-04-25T01:43:02+24:00",
                                     "2026-04-25T01:43:02+02:60",
                                     "2026-04-25T01:43:02+2",
                                     "2026-04-25T01:43:02Z ",
                                     " 2026-04-25T01:43:02Z",
                                     "0000-01-01T00:00:00Z",
                                     "10000-01-01T00:00:00Z",
                                     "26-04-25T01:43:02Z",
                                     "2026/04/25T01:43:02Z",
                                     "-026-04-25T01:43:02Z",
                                     "0001-01-01T00:00:00+01:00",
                                     "9999-12-31T23:59:59-01:00"}) {
    const auto at = parse_iso8601(bad, "occurred_at");
    ASSERT_FALSE(at) << bad;
    EXPECT_EQ(at.error().field, "occurred_at");
    EXPECT_TRUE(at.error().message.starts_with("occurred_at must be")) << at.error().message;
  }
}

TEST(Iso8601, RandomTimesReadBackAndTextOrderIsTimeOrder) {
  std::mt19937_64 random{11};
  std::uniform_int_distribution<std::int64_t> any{parsed("0001-01-01T00:00:00Z").time_since_epoch().count(),
                                                  parsed("9999-12-31T23:59:59Z").time_since_epoch().count()};
  for (int i = 0; i < 10'000; ++i) {
    const Timestamp a{std::chrono::microseconds{any(random)}};
    const Timestamp b{std::chrono::microseconds{any(random)}};
    ASSERT_EQ(parsed(to_iso8601(a)), a);
    ASSERT_EQ(a < b, to_iso8601(a) < to_iso8601(b));
  }
}

TEST(DurationText, ReadsEveryUnit) {
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("5s"), 5s);
  EXPECT_EQ(*parse_duration("10m"), 10min);
  EXPECT_EQ(*parse_duration("2h"), 2h);
  EXPECT_EQ(*parse_duration("1d"), 24h);
  EXPECT_EQ(*parse_duration("7us"), 7us);
  EXPECT_EQ(*parse_duration("300"), 300s);
  EXPECT_EQ(*parse_duration("0"), 0s);
}

TEST(DurationText, RefusesBadTextsAndNamesTheField) {
  for (const std::string_view bad :
       {"", "s", "-5s", "+5s", "5 s", "5S", "1.5s", "5sec", "five", "5s5", " 5s", "0x5s"}) {
    const auto duration = parse_duration(bad, "RETRY_BASE_DELAY");
    ASSERT_FALSE(duration) << bad;
    EXPECT_EQ(duration.error().field, "RETRY_BASE_DELAY");
  }
}

TEST(DurationText, RefusesWhatWouldOverflow) {
  for (const std::string_view bad :
       {"36501d", "9223372036854775807d", "9223372036854775807", "99999999999999999999s"}) {
    const auto duration = parse_duration(bad, "ttl");
    ASSERT_FALSE(duration) << bad;
    EXPECT_EQ(duration.error().message, "ttl must be at most 36500d");
  }
  EXPECT_EQ(*parse_duration("36500d"), std::chrono::days{36500});
}

TEST(DurationText, PicksTheShortestExactForm) {
  EXPECT_EQ(to_text(0s), "0s");
  EXPECT_EQ(to_text(1500ms), "1500ms");
  EXPECT_EQ(to_text(300s), "5m");
  EXPECT_EQ(to_text(90s), "90s");
  EXPECT_EQ(to_text(7200s), "2h");
  EXPECT_EQ(to_text(48h), "2d");
  EXPECT_EQ(to_text(1us), "1us");
}

TEST(DurationText, RandomDurationsReadBack) {
  std::mt19937_64 random{13};
  for (int i = 0; i < 10'000; ++i) {
    const Duration duration{static_cast<Duration::rep>(random() % 1'000'000'000'000U)};
    ASSERT_EQ(*parse_duration(to_text(duration)), duration) << to_text(duration);
  }
}

}  // namespace
}  // namespace sluice
