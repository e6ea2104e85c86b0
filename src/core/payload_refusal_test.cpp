// Every way in which a payload does not fit its struct: the path and what was expected.
#include <gtest/gtest.h>

#include <sluice/payload.hpp>

#include "core/payload_samples.hpp"

namespace sluice {
namespace {

using test::kOrderJson;
using test::OrderPlaced;

// The order with one piece of its text replaced.
std::string payload_refusal(std::string_view piece, std::string_view replacement) {
  std::string text{kOrderJson};
  const std::size_t at = text.find(piece);
  if (at == std::string::npos) return "the piece is not there";
  text.replace(at, piece.size(), replacement);
  const auto read = from_payload<OrderPlaced>(text);
  if (read) return "accepted";
  EXPECT_EQ(read.error().code, ErrorCode::invalid);
  EXPECT_EQ(read.error().retry, Retry::never);
  EXPECT_TRUE(read.error().message.starts_with(read.error().field + ' ')) << read.error().message;
  return read.error().message;
}

TEST(PayloadRefusal, AMissingFieldIsNamedWithWhatItMustBe) {
  EXPECT_EQ(payload_refusal(R"("express":true,)", ""), "payload.express is missing; it must be true or false");
  EXPECT_EQ(payload_refusal(R"("lines":-2147483648,)", ""), "payload.lines is missing; it must be a whole number");
  EXPECT_EQ(payload_refusal(R"("severity":"high",)", ""),
            "payload.severity is missing; it must be one of the strings low, high");
  EXPECT_EQ(payload_refusal(R"("answers":[true,null,false],)", ""), "payload.answers is missing; it must be an array");
  EXPECT_EQ(payload_refusal(R"(,"total":12345678901234567890123456789.000001)", ""),
            "payload.total is missing; it must be a JSON value");
  EXPECT_EQ(payload_refusal(R"("sku":"Grüße 🌍",)", ""), "payload.items[1].sku is missing; it must be a string");
  EXPECT_EQ(payload_refusal(R"("order_id":"01890a5d-ac96-774b-bcce-b302099a8057",)", ""),
            "payload.order_id is missing; it must be a uuid");
  EXPECT_EQ(payload_refusal(R"("placed_at":"2026-04-25T01:43:02.250000Z",)", ""),
            "payload.placed_at is missing; it must be a point in time");
}

TEST(PayloadRefusal, AMistypedFieldIsNamedWithWhatItIs) {
  EXPECT_EQ(payload_refusal(R"("express":true)", R"("express":1)"),
            "payload.express must be true or false, not a number");
  EXPECT_EQ(payload_refusal("-2147483648", R"("7")"), "payload.lines must be a whole number, not a string");
  EXPECT_EQ(payload_refusal("-2147483648", "null"), "payload.lines must be a whole number, not null");
  EXPECT_EQ(payload_refusal("1e+300", "false"), "payload.items[1].price must be a number, not true or false");
  EXPECT_EQ(payload_refusal(R"("Grüße 🌍")", "{}"), "payload.items[1].sku must be a string, not an object");
  EXPECT_EQ(payload_refusal(R"("high")", "[]"), "payload.severity must be one of the strings low, high, not an array");
  EXPECT_EQ(payload_refusal("[true,null,false]", "{}"), "payload.answers must be an array, not an object");
  EXPECT_EQ(payload_refusal("null", "3"), "payload.answers[1] must be true or false, not a number");
  EXPECT_EQ(payload_refusal(R"("items":[{)", R"("items":[5,{)"), "payload.items[0] must be an object, not a number");
  EXPECT_EQ(payload_refusal(R"("line\nbreak")", "1"), "payload.note must be a string, not a number");
}

TEST(PayloadRefusal, AValueOutsideItsRangeOrFormIsRefused) {
  EXPECT_EQ(payload_refusal("-2147483648", "-2147483649"),
            "payload.lines must be a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(payload_refusal("9223372036854775807", "9223372036854775808"),
            "payload.serial must be a whole number from -9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(payload_refusal("-2147483648", "1.0"),
            "payload.lines must be a whole number without a fraction or an exponent");
  EXPECT_EQ(payload_refusal("-2147483648", "1e3"),
            "payload.lines must be a whole number without a fraction or an exponent");
  EXPECT_EQ(payload_refusal("1e+300", "1e+400"), "payload.items[1].price must be a number that a double can hold");
  EXPECT_EQ(payload_refusal(R"("high")", R"("HIGH")"), "payload.severity must be one of the strings low, high");
  EXPECT_EQ(payload_refusal("01890a5d-", "01890a5d"), "payload.order_id must be a uuid of 36 characters");
  EXPECT_EQ(payload_refusal("2026-04-25", "2026-04-31"),
            "payload.placed_at must be a point in time, like 2026-04-25T01:43:02Z");
}

TEST(PayloadRefusal, TheTextItselfMustBeOneObject) {
  const auto message = [](std::string_view text) { return from_payload<test::Item>(text).error().message; };
  EXPECT_EQ(message("[]"), "payload must be an object, not an array");
  EXPECT_EQ(message(" null "), "payload must be an object, not null");
  EXPECT_EQ(message("{"), "payload is not valid JSON at line 1, column 2: a member name in double quotes was expected");
  EXPECT_EQ(message(R"({"sku":"a","sku":"b","price":1})"), R"(payload has the member "sku" twice)");
}

TEST(PayloadRefusal, TheTextOfThePayloadIsNotRepeated) {
  const std::string message = payload_refusal(R"("line\nbreak")", R"(["secret"])");
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
}

}  // namespace
}  // namespace sluice
