#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>

#include "core/failure.hpp"
#include "core/utf8.hpp"

namespace sluice {
namespace {

struct Variants {
  const char* what;
  const char* one;
  const char* other;
};

class SameGroup : public testing::TestWithParam<Variants> {};

TEST_P(SameGroup, ForTextsThatDifferOnlyInWhatVaries) {
  const auto& [what, one, other] = GetParam();
  EXPECT_EQ(normalise_error(one), normalise_error(other));
  EXPECT_EQ(fingerprint("Error", one), fingerprint("Error", other));
}

INSTANTIATE_TEST_SUITE_P(
    Fingerprint, SameGroup,
    testing::Values(
        Variants{"Uuid", "order 01890a5d-ac96-774b-bcce-b302099a8057 is gone",
                 "order F47AC10B-58CC-4372-A567-0E02B2C3D479 is gone"},
        Variants{"Number", "timeout after 3000 ms", "timeout after 12.5 ms"},
        Variants{"NegativeNumber", "balance is -5", "balance is 17"},
        Variants{"NumberInAWord", "worker12 died", "worker7 died"},
        Variants{"DoubleQuoted", "column \"total\" is unknown", "column \"grand total\" is unknown"},
        Variants{"SingleQuoted", "no such user 'anna'", "no such user 'o\\'brien'"},
        Variants{"BackQuoted", "bad field `a`", "bad field `b.c`"},
        Variants{"HexPointer", "bad object at 0x7ffe0001", "bad object at 0xDEADBEEF"},
        Variants{"HexId", "blob 8f14e45fceea167a is missing", "blob 45c48cce2e2d7fbd is missing"},
        Variants{"HexIdOfDigitsOnly", "blob 8f14e45fceea167a is missing", "blob 1234567890123456 is missing"},
        Variants{"Ulid", "key 01ARZ3NDEKTSV4RRFFQ69G5FAV taken", "key 01BX5ZZKBKACTAV9WEVGEMMVRZ taken"},
        Variants{"Ipv4", "connect to 10.0.0.1:5432 refused", "connect to 192.168.17.200:6432 refused"},
        Variants{"Ipv6", "connect to [2001:db8::1] refused", "connect to [fe80::aede:48ff:fe00:1122] refused"},
        Variants{"Ipv6Loopback", "connect to ::1 refused", "connect to fe80::1 refused"},
        Variants{"Mailbox", "cannot mail ann@example.com", "cannot mail bob.b@mail.example.org"},
        Variants{"Timestamp", "expired at 2026-04-25T01:43:02Z", "expired at 2025-12-31 23:59:59.123456+02:00"},
        Variants{"Date", "no rate for 2026-04-25", "no rate for 1999-01-01"},
        Variants{"TimeOfDay", "closed at 01:43:02", "closed at 23:59:59.5"},
        Variants{"PathWithId", "GET /orders/81723/items/9 gave 404", "GET /orders/5/items/12345 gave 404"},
        Variants{"PathWithUuid", "GET /v1/orders/01890a5d-ac96-774b-bcce-b302099a8057",
                 "GET /v1/orders/f47ac10b-58cc-4372-a567-0e02b2c3d479"},
        Variants{"PrefixedId", "charge ch_3MmlLrLkdIwHu7ix0snN0B15 declined",
                 "charge ch_1Gq2pA2eZvKYlo2Cb4kRV9xW declined"},
        Variants{"WhiteSpace", "a  b\n\tc", "a b c "}),
    [](const testing::TestParamInfo<Variants>& variants) { return std::string{variants.param.what}; });

TEST(Fingerprint, DiffersForDifferentTexts) {
  const char* texts[] = {"connection refused",
                         "connection reset",
                         "column \"a\" is unknown",
                         "relation \"a\" is unknown",
                         "can't open the file",
                         "can't close the file",
                         "timeout after 3 s",
                         "std::bad_alloc",
                         "std::bad_cast",
                         "order is gone",
                         ""};
  for (const char* one : texts) {
    for (const char* other : texts) {
      EXPECT_EQ(fingerprint("Error", one) == fingerprint("Error", other), one == other) << one << " / " << other;
    }
  }
}

TEST(Fingerprint, DiffersForDifferentClasses) {
  EXPECT_NE(fingerprint("TimeoutError", "it broke"), fingerprint("ConnectionError", "it broke"));
  EXPECT_NE(fingerprint("ab", "c"), fingerprint("a", "bc"));
}

TEST(Fingerprint, IsPinned) {
  // Groups are compared across releases: a change here splits every stored group in two.
  EXPECT_EQ(
      normalise_error("order 01890a5d-ac96-774b-bcce-b302099a8057 of \"ann\" timed out after 30 s on 10.0.0.1:80"),
      "order <uuid> of <text> timed out after <n> s on <address>");
  EXPECT_EQ(fingerprint("TimeoutError", "timed out after 30 s"), fingerprint("TimeoutError", "timed out after <n> s"));
  EXPECT_EQ(fingerprint("Error", ""), "b05e9c6313ad3461");
}

TEST(Normalise, LeavesWordsAlone) {
  for (const char* text : {"can't open the file: Permission denied", "ECONNREFUSED", "std::bad_alloc", "facade of cafe",
                           "a 'quote that never ends", "key=value; other: thing"}) {
    EXPECT_EQ(normalise_error(text), text);
  }
}

constexpr std::string_view kTricky = "0123456789abcdef:.-'\"@ _/";

TEST(Normalise, IsBoundedAndValidForAnyBytes) {
  std::mt19937_64 random{29};
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 2000, ' ');
    const bool ascii = round % 2 == 0;
    for (char& c : text) c = ascii ? kTricky[random() % kTricky.size()] : static_cast<char>(random());
    const std::string normalised = normalise_error(text);
    ASSERT_LE(normalised.size(), 512U);
    ASSERT_TRUE(utf8::is_valid(normalised));
  }
  EXPECT_LE(normalise_error(std::string(1'000'000, 'x')).size(), 512U);
}

}  // namespace
}  // namespace sluice
