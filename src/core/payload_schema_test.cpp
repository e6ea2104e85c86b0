#include <gtest/gtest.h>

#include <sluice/payload.hpp>
#include "core/contract.hpp"
#include "core/json.hpp"
#include "core/payload_samples.hpp"

namespace sluice {
namespace {

struct Small {
  static constexpr std::string_view kEventType = "shop.small";
  static constexpr int kEventVersion = 2;
  Uuid id;
  std::optional<test::Severity> severity;
  std::vector<std::int64_t> counts;
  RawJson extra;
  static constexpr auto fields() {
    return std::tuple{field("id", &Small::id, "which one"), field("severity", &Small::severity),
                      field("counts", &Small::counts), field("extra", &Small::extra)};
  }
};

TEST(PayloadSchema, IsDraft7OneMemberPerLine) {
  EXPECT_EQ(payload_schema<Small>(), R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "shop.small",
  "x-event-type": "shop.small",
  "x-event-version": 2,
  "type": "object",
  "properties": {
    "id": {
      "description": "which one",
      "type": "string",
      "format": "uuid"
    },
    "severity": {
      "type": ["string", "null"],
      "enum": ["low", "high", null]
    },
    "counts": {
      "type": "array",
      "items": {
        "type": "integer",
        "format": "int64"
      }
    },
    "extra": {}
  },
  "required": ["id", "counts", "extra"],
  "additionalProperties": true
}
)");
}

TEST(PayloadSchema, DescribesEveryKindOfMember) {
  const std::string schema = payload_schema<test::OrderPlaced>();
  ASSERT_TRUE(json::check(schema, "schema"));
  const auto contract = read_contract(schema, "schema");
  ASSERT_TRUE(contract) << contract.error().message;
  std::string words;
  for (const auto& property : contract->shape.properties) {
    words += property.name + (property.required ? ": " : "?: ") + describe(property.shape) + '\n';
  }
  EXPECT_EQ(words,
            "order_id: string (uuid)\n"
            "placed_at: string (date-time)\n"
            "express: boolean\n"
            "lines: integer (int32)\n"
            "serial: integer (int64)\n"
            "severity: string\n"
            "items: array of object\n"
            "note?: string or null\n"
            "answers: array of boolean or null\n"
            "total: any value\n"
            "extra?: any value\n");
  EXPECT_EQ(contract->shape.description, "A customer placed an order");
  EXPECT_EQ(contract->shape.properties[6].shape.items[0].description, "one line of the order");
}

TEST(PayloadSchema, TheFileIsNamedAfterTypeAndVersion) {
  const ContractFile file = contract_file<Small>();
  EXPECT_EQ(file.file_name, "shop.small.v2.json");
  EXPECT_EQ(file.text, payload_schema<Small>());
}

}  // namespace
}  // namespace sluice
