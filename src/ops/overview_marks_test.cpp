#include "ops/overview_marks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

store::AuditRecord record(Duration at, std::string action, std::string detail = "{}", std::int64_t count = 1) {
  store::AuditRecord made;
  made.at = test::kStart + at;
  made.actor.name = "ann";
  made.action = std::move(action);
  made.detail = std::move(detail);
  made.count = count;
  return made;
}

TEST(OverviewMarks, GenerationsAndReplaysAreMarkedOldestFirst) {
  const auto marks = marks_of({
      record(30s, "replay.bulk", R"({"operation_id":"op1","filter":""})", 300),
      record(20s, "discard"),
      record(10s, "generation.activate", R"({"generation":2})"),
  });
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].kind, "generation");
  EXPECT_EQ(marks[0].text, "generation 2: activate by ann");
  EXPECT_EQ(marks[0].link, "/generations");
  EXPECT_EQ(marks[1].text, "replay of 300 events by ann");
  EXPECT_EQ(marks[1].link, "/operations/op1");
  EXPECT_EQ(to_json(marks[1]),
            R"({"at":")" + to_iso8601(test::kStart + 30s) +
                R"(","kind":"replay","text":"replay of 300 events by ann","link":"/operations/op1"})");
}

TEST(OverviewMarks, SingleReplaysOfOnePersonAreOneMark) {
  auto other = record(0s, "replay");
  other.actor.name = "bob";
  other.event_id = *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-000000000001");
  const auto marks = marks_of({record(60s, "replay"), record(50s, "replay"), other});
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].text, "1 event replayed by bob");
  EXPECT_EQ(marks[0].link, "/events/0196b2f1-7c1e-7a3b-9d2e-000000000001");
  EXPECT_EQ(marks[1].text, "2 events replayed by ann");
  EXPECT_EQ(marks[1].at, test::kStart + 50s);
}

TEST(OverviewMarks, SingleReplaysFarApartAreNot) {
  EXPECT_THAT(marks_of({record(20min, "replay"), record(0s, "replay")}), SizeIs(2));
}

TEST(OverviewMarks, ADetailWrittenByHandDoesNoHarm) {
  const auto marks = marks_of({record(0s, "generation.drain", "not json")});
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0].text, "generation : drain by ann");
  EXPECT_THAT(marks_of({record(0s, "acknowledge")}), IsEmpty());
}

}  // namespace
}  // namespace sluice::ops
