#include "core/failure.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sluice
