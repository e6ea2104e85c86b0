#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <vector>

#include <sluice/uuid.hpp>

namespace sluice {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Random = std::array<std::uint8_t, 10>;

constexpr Random kOnes{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
constexpr Random kZeros{};

Timestamp at_ms(std::int64_t ms) { return Timestamp{milliseconds{ms}}; }

std::int64_t ms_of(const Uuid& id) {
  std::int64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i) ms = ms << 8 | id.bytes[i];
  return ms;
}

TEST(Uuid, TextReadsBackInEitherCase) {
  const auto id = Uuid::parse("01890A5D-AC96-774B-BCCE-B302099A8057");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
  EXPECT_EQ(id->version(), 7);
  EXPECT_EQ(*Uuid::parse(id->to_string()), *id);
  EXPECT_FALSE(id->is_nil());
  EXPECT_TRUE(Uuid::parse("00000000-0000-0000-0000-000000000000")->is_nil());
}

TEST(Uuid, RefusesOtherTextsAndNamesTheField) {
  for (const std::string_view bad :
       {"", "01890a5d", "01890a5dac96774bbcceb302099a8057", "01890a5d-ac96-774b-bcce-b302099a805",
        "01890a5d-ac96-774b-bcce-b302099a80577", "01890a5d-ac96-774b-bcce_b302099a8057",
        "01890a5d-ac96-774b-bcce-b302099a805g", "{1890a5d-ac96-774b-bcce-b302099a8057"}) {
    const auto id = Uuid::parse(bad, "workspace_id");
    ASSERT_FALSE(id) << bad;
    EXPECT_EQ(id.error().field, "workspace_id");
    EXPECT_TRUE(id.error().message.starts_with("workspace_id must be a uuid"));
  }
}

TEST(UuidV7, LayoutIsTimeVersionVariantRandom) {
  // 2022-02-22T19:22:22Z, the instant of RFC 9562's example.
  const Random random{0x0C, 0xC3, 0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F};
  EXPECT_EQ(make_uuid_v7(at_ms(1645557742000), random).to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  EXPECT_EQ(make_uuid_v7(at_ms(1), kZeros).to_string(), "00000000-0001-7000-8000-000000000000");
  EXPECT_EQ(make_uuid_v7(at_ms(1), kOnes).to_string(), "00000000-0001-7fff-bfff-ffffffffffff");
}

TEST(UuidV7, MicrosecondsWithinAMillisecondDoNotShow) {
  EXPECT_EQ(make_uuid_v7(at_ms(5) + microseconds{999}, kZeros), make_uuid_v7(at_ms(5), kZeros));
}

TEST(UuidV7, LaterMillisecondsSortLater) {
  EXPECT_LT(make_uuid_v7(at_ms(1000), kOnes), make_uuid_v7(at_ms(1001), kZeros));
  EXPECT_LT(make_uuid_v7(at_ms(1000), kOnes).to_string(), make_uuid_v7(at_ms(1001), kZeros).to_string());
}

TEST(UuidV7, TimesBeforeTheEpochCountAsTheEpoch) {
  EXPECT_EQ(make_uuid_v7(at_ms(-5), kZeros), make_uuid_v7(at_ms(0), kZeros));
}

TEST(UuidV7Sequence, CountsUpWithinAMillisecond) {
  UuidV7Sequence sequence;
  const Uuid first = sequence.next(at_ms(1000), kOnes);
  const Uuid second = sequence.next(at_ms(1000), kZeros);
  EXPECT_LT(first, second);
  EXPECT_EQ(ms_of(first), 1000);
  EXPECT_EQ(ms_of(second), 1000);
}

TEST(UuidV7Sequence, NeverGoesBackWhenTheClockDoes) {
  UuidV7Sequence sequence;
  const Uuid before = sequence.next(at_ms(5000), kOnes);
  const Uuid after = sequence.next(at_ms(1000), kZeros);
  EXPECT_LT(before, after);
  EXPECT_EQ(ms_of(after), 5000);
}

TEST(UuidV7Sequence, AFullCounterMovesTheMillisecondForward) {
  UuidV7Sequence sequence;
  Uuid last = sequence.next(at_ms(1000), kOnes);
  int in_first_ms = 1;
  while (ms_of(last) == 1000 && in_first_ms < 5000) {
    const Uuid next = sequence.next(at_ms(1000), kOnes);
    ASSERT_LT(last, next);
    if (ms_of(next) == 1000) ++in_first_ms;
    last = next;
  }
  EXPECT_EQ(ms_of(last), 1001);
  EXPECT_GE(in_first_ms, 2048);
  EXPECT_EQ(last.version(), 7);
}

TEST(UuidV7Sequence, StaysOrderedUnderARandomWalkOfTheClock) {
  std::mt19937_64 random{7};
  UuidV7Sequence sequence;
  std::vector<Uuid> ids;
  std::int64_t ms = 1'000'000;
  for (int i = 0; i < 20'000; ++i) {
    ms += static_cast<std::int64_t>(random() % 5) - 2;
    Random bytes{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    ids.push_back(sequence.next(at_ms(ms), bytes));
  }
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace sluice
