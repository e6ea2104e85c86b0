#include "core/contract.hpp"

#include <gtest/gtest.h>

#include "core/payload_samples.hpp"

namespace sluice {
namespace {

std::string schema_with(const std::string& rest) {
  return R"({"x-event-type":"shop.order","x-event-version":1)" + rest + '}';
}
std::string field_with(const std::string& schema) {
  return schema_with(R"(,"type":"object","properties":{"f":)" + schema + '}');
}
std::string schema_refusal(const std::string& schema) {
  const auto contract = read_contract(schema, "f.json");
  return contract ? "accepted" : contract.error().message;
}

TEST(ContractReading, AWrittenSchemaReadsBackAsTheSameText) {
  const std::string schema = payload_schema<test::OrderPlaced>();
  const auto contract = read_contract(schema, "schema");
  ASSERT_TRUE(contract) << contract.error().message;
  EXPECT_EQ(contract->file_name(), "shop.order.placed.v3.json");
  EXPECT_EQ(detail::render_schema(contract->event_type, contract->event_version, contract->shape), schema);
}

TEST(ContractReading, NamesItsEventTypeAndVersion) {
  EXPECT_EQ(schema_refusal("{"),
            "f.json is not valid JSON at line 1, column 2: a member name in double quotes was expected");
  EXPECT_EQ(schema_refusal("[]"), "f.json must be a JSON object");
  EXPECT_EQ(schema_refusal(R"({"type":"object"})"), R"(f.json must name its event type in "x-event-type")");
  EXPECT_EQ(schema_refusal(R"({"x-event-type":"../x","type":"object"})"),
            R"(f.json must name its event type in "x-event-type")");
  for (const char* version : {"0", "-1", "1.5", "\"1\"", "99999999999"}) {
    EXPECT_EQ(schema_refusal(std::string{R"({"x-event-type":"a","type":"object","x-event-version":)"} + version + '}'),
              R"(f.json must have a whole number from 1 in "x-event-version")");
  }
  EXPECT_EQ(schema_refusal(schema_with(R"(,"type":"array")")),
            "f.json must have the type object, because a payload is an object");
}

TEST(ContractReading, RefusesWhatItWouldHaveToIgnore) {
  EXPECT_EQ(schema_refusal(field_with(R"({"type":"string","pattern":"a"})")),
            R"(f.json properties.f has the keyword "pattern", which contracts do not use; type, format, enum, items, )"
            "properties, required and additionalProperties are understood");
  EXPECT_NE(schema_refusal(field_with(R"({"$ref":"#/definitions/x"})")).find("$ref"), std::string::npos);
  EXPECT_EQ(schema_refusal(schema_with(R"(,"type":"object","additionalProperties":false)")),
            R"(f.json must leave "additionalProperties" true, because readers ignore what they do not know)");
  EXPECT_EQ(schema_refusal(field_with(R"({"type":["string","integer"]})")),
            "f.json properties.f must have one type of boolean, integer, number, string, array and object, and perhaps "
            "null");
  EXPECT_EQ(schema_refusal(field_with(R"({"type":"integer","enum":[1]})")),
            R"(f.json properties.f must have the type string beside "enum")");
  EXPECT_EQ(schema_refusal(field_with(R"({"type":"string","enum":[]})")),
            R"(f.json properties.f must list at least one string in "enum")");
  EXPECT_EQ(schema_refusal(field_with(R"({"type":"string","items":{}})")),
            R"(f.json properties.f must have the type array beside "items")");
  EXPECT_EQ(schema_refusal(field_with(R"({"properties":{}})")),
            R"(f.json properties.f must have the type object beside "properties" and "required")");
  EXPECT_EQ(schema_refusal(schema_with(R"(,"type":"object","required":["f"])")),
            R"(f.json requires "f", which is not among its properties)");
}

TEST(ContractReading, IgnoresAnnotations) {
  EXPECT_EQ(schema_refusal(field_with(R"({"type":"string","title":"F","default":"x","examples":["y"],"x-pii":true})")),
            "accepted");
}

TEST(ContractValidation, NamesThePathAndWhatWasExpected) {
  const auto contract = read_contract(payload_schema<test::OrderPlaced>(), "schema");
  ASSERT_TRUE(contract);
  EXPECT_TRUE(check_payload(*contract, test::kOrderJson));
  std::string text{test::kOrderJson};
  text.replace(text.find("1e+300"), 6, "\"x\"");
  const auto checked = check_payload(*contract, text);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  EXPECT_EQ(checked.error().field, "payload.items[1].price");
  EXPECT_EQ(checked.error().message, "payload.items[1].price must be a number, not a string");
}

TEST(ContractValidation, AnArrayWithoutItemsHoldsAnything) {
  const auto contract = read_contract(field_with(R"({"type":"array"})"), "schema");
  ASSERT_TRUE(contract);
  EXPECT_TRUE(check_payload(*contract, R"({"f":[1,"a",null,{}]})"));
  EXPECT_EQ(check_payload(*contract, R"({"f":{}})").error().message, "payload.f must be an array, not an object");
}

}  // namespace
}  // namespace sluice
