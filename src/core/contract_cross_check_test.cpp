#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/contract_change.hpp"
#include "core/payload_samples.hpp"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Contract one_field_contract(const std::string& properties, const std::string& required = R"("f")") {
  const auto contract =
      read_contract(R"({"x-event-type":"shop.order","x-event-version":1,"type":"object","properties":{)" + properties +
                        R"(},"required":[)" + required + "]}",
                    "schema");
  EXPECT_TRUE(contract) << contract.error().message;
  return *contract;
}

std::vector<std::string> cross_messages(const Contract& producer, const Contract& consumer) {
  std::vector<std::string> out;
  for (const auto& finding : cross_check(producer, consumer)) {
    out.push_back((finding.severity == FindingSeverity::note ? "note: " : "") + finding.message);
  }
  return out;
}

std::vector<std::string> field_messages(const std::string& sent, const std::string& read) {
  return cross_messages(one_field_contract(R"("f":)" + sent), one_field_contract(R"("f":)" + read));
}

TEST(ContractCrossCheck, AConsumerReadsItsProducersOwnContract) {
  const auto contract = read_contract(payload_schema<test::OrderPlaced>(), "schema");
  ASSERT_TRUE(contract);
  EXPECT_THAT(cross_check(*contract, *contract), IsEmpty());
}

TEST(ContractCrossCheck, AConsumerMayReadLess) {
  EXPECT_THAT(cross_messages(one_field_contract(R"("f":{"type":"string"},"g":{"type":"string"})", R"("f","g")"),
                             one_field_contract(R"("f":{"type":"string"})")),
              IsEmpty());
}

TEST(ContractCrossCheck, WhatTheConsumerRequiresMustBePublished) {
  const Contract consumer = one_field_contract(R"("f":{"type":"string"})");
  EXPECT_THAT(cross_messages(one_field_contract("", ""), consumer),
              ElementsAre("payload.f is required by the consumer, but the producer does not publish it"));
  EXPECT_THAT(cross_messages(one_field_contract(R"("f":{"type":"string"})", ""), consumer),
              ElementsAre("payload.f is required by the consumer, but the producer may leave it out"));
  EXPECT_THAT(cross_messages(one_field_contract("", ""), one_field_contract(R"("f":{"type":"string"})", "")),
              ElementsAre("note: payload.f is read if it is there, but the producer does not publish it"));
}

TEST(ContractCrossCheck, TypesMustBeReadable) {
  EXPECT_THAT(field_messages(R"({"type":"integer","format":"int64"})", R"({"type":"integer","format":"int32"})"),
              ElementsAre("payload.f is read as integer (int32), but is published as integer (int64)"));
  EXPECT_THAT(field_messages(R"({"type":"string"})", R"({"type":"string","format":"uuid"})"),
              ElementsAre("payload.f is read as string (uuid), but is published as string"));
  EXPECT_THAT(field_messages("{}", R"({"type":"string"})"),
              ElementsAre("payload.f is read as string, but is published as any value"));
  EXPECT_THAT(field_messages(R"({"type":["string","null"]})", R"({"type":"string"})"),
              ElementsAre("payload.f may be null, which the consumer does not read"));
}

TEST(ContractCrossCheck, AWiderTypeReadsANarrowerOne) {
  EXPECT_THAT(field_messages(R"({"type":"integer","format":"int32"})", R"({"type":"integer","format":"int64"})"),
              IsEmpty());
  EXPECT_THAT(field_messages(R"({"type":"integer"})", R"({"type":"number"})"), IsEmpty());
  EXPECT_THAT(field_messages(R"({"type":"string","format":"uuid"})", R"({"type":"string"})"), IsEmpty());
  EXPECT_THAT(field_messages(R"({"type":"string","enum":["a"]})", R"({"type":"string"})"), IsEmpty());
  EXPECT_THAT(field_messages(R"({"type":"object"})", "{}"), IsEmpty());
}

TEST(ContractCrossCheck, EveryEnumValueMustBeKnown) {
  const std::string two = R"({"type":"string","enum":["low","high"]})";
  EXPECT_THAT(field_messages(two, R"({"type":"string","enum":["low","high","top"]})"), IsEmpty());
  EXPECT_THAT(field_messages(two, R"({"type":"string","enum":["low"]})"),
              ElementsAre("payload.f may have the enum value high, which the consumer does not know"));
  EXPECT_THAT(field_messages(R"({"type":"string"})", two),
              ElementsAre("payload.f may be any string, but the consumer reads only certain ones"));
}

TEST(ContractCrossCheck, LooksInsideArraysAndObjects) {
  EXPECT_THAT(field_messages(R"({"type":"array","items":{"type":"object","properties":{"x":{"type":"string"}}}})",
                             R"({"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}})"),
              ElementsAre("payload.f[].x is read as number, but is published as string"));
}

}  // namespace
}  // namespace sluice
