#include "core/failure.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>

#include "core/utf8.hpp"

namespace sluice {
namespace {

Failure of_class(std::string error_class) { return Failure{std::move(error_class), "it broke", {}, false}; }
Failure of_sqlstate(std::string sqlstate) { return Failure{{}, "it broke", std::move(sqlstate), false}; }

TEST(EffectiveClass, ComesFromTheFailureThenItsSqlstate) {
  EXPECT_EQ(effective_class(of_class("CardDeclined")), "CardDeclined");
  EXPECT_EQ(effective_class(of_class("")), "Error");
  EXPECT_EQ(effective_class(of_sqlstate("23505")), "IntegrityError");
  EXPECT_EQ(effective_class(of_sqlstate("08006")), "ConnectionError");
  EXPECT_EQ(effective_class(of_sqlstate("57P01")), "ConnectionError");
  EXPECT_EQ(effective_class(of_sqlstate("57014")), "TimeoutError");
  EXPECT_EQ(effective_class(of_sqlstate("40001")), "OperationalError");
  EXPECT_EQ(effective_class(of_sqlstate("53100")), "OperationalError");
  EXPECT_EQ(effective_class(Failure{"Mine", "it broke", "23505", false}), "Mine");
  EXPECT_EQ(effective_class(Failure{{}, "it broke", {}, true}), "TerminalError");
}

TEST(EffectiveClass, NeverHoldsAColon) {
  EXPECT_EQ(effective_class(of_class("acme::orders::OrderError")), "OrderError");
  EXPECT_EQ(effective_class(of_class("a:b")), "a_b");
  EXPECT_EQ(effective_class(of_class("acme::")), "Error");
  EXPECT_LE(effective_class(of_class(std::string(5000, 'x'))).size(), 128U);
}

TEST(Classify, TerminalKindsFailAtOnce) {
  const RetryPolicy policy;
  EXPECT_EQ(classify(of_class("PayloadError"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("IntegrityError"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("TerminalError"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("sluice::TerminalError"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_sqlstate("23000"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_sqlstate("23505"), policy), Disposition::terminal);
  EXPECT_EQ(classify(Failure{"UniqueViolation", "it broke", "23505", false}, policy), Disposition::terminal);
  EXPECT_EQ(classify(Failure{"OutOfCredit", "it broke", {}, true}, policy), Disposition::terminal);
}

TEST(Classify, EverythingElseIsTransient) {
  const RetryPolicy policy;
  for (const char* error_class :
       {"", "ConnectionError", "TimeoutError", "OperationalError", "ClaimExpired", "Error", "Whatever"}) {
    EXPECT_EQ(classify(of_class(error_class), policy), Disposition::transient) << error_class;
  }
  for (const char* sqlstate : {"08006", "57P01", "57014", "40001", "40P01", "53300", "22001"}) {
    EXPECT_EQ(classify(of_sqlstate(sqlstate), policy), Disposition::transient) << sqlstate;
  }
}

TEST(Classify, ThePolicyNamesMoreTerminalClasses) {
  RetryPolicy policy;
  policy.terminal_errors = {"CardDeclined", "acme::Gone"};
  EXPECT_EQ(classify(of_class("CardDeclined"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("bank::CardDeclined"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("acme::Gone"), policy), Disposition::terminal);
  EXPECT_EQ(classify(of_class("carddeclined"), policy), Disposition::transient);
}

TEST(LastError, IsClassAndMessage) {
  EXPECT_EQ((Failure{{}, "duplicate key value", "23505", false}.last_error()), "IntegrityError: duplicate key value");
  EXPECT_EQ((Failure{}.last_error()), "Error: ");
}

TEST(LastError, MakesControlCharactersVisible) {
  const Failure failure{"Error", std::string{"a\nb\tc\r\x1B[31m\x7F"} + '\0' + "d", {}, false};
  EXPECT_EQ(failure.last_error(), "Error: a\\nb\\tc\\r\\x1b[31m\\x7f\\x00d");
}

TEST(LastError, IsAlwaysValidUtf8) {
  const Failure failure{"Error", "caf\xE9 \xF0\x9F", {}, false};
  EXPECT_EQ(failure.last_error(), "Error: caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(LastError, IsCutTo4KiBAtACharacterBoundary) {
  std::string long_text;
  for (int i = 0; i < 3000; ++i) long_text += "€";
  for (int shift = 0; shift < 3; ++shift) {
    const std::string text =
        Failure{"Error", std::string(static_cast<std::size_t>(shift), 'x') + long_text, {}, false}.last_error();
    EXPECT_LE(text.size(), 4096U);
    EXPECT_GT(text.size(), 4090U);
    EXPECT_TRUE(utf8::is_valid(text));
    EXPECT_TRUE(text.ends_with("…"));
  }
  const Failure exact{"Error", std::string(4096 - 7, 'x'), {}, false};
  EXPECT_EQ(exact.last_error().size(), 4096U);
  EXPECT_TRUE(exact.last_error().ends_with('x'));
}

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
