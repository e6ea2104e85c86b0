#include "core/contract.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/payload_samples.hpp"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A contract of version `version` with these properties; those in `required` must be there.
Contract contract_of(const std::string& properties, const std::string& required, int version) {
  const auto contract =
      read_contract(R"({"x-event-type":"decision.recorded","x-event-version":)" + std::to_string(version) +
                        R"(,"type":"object","properties":{)" + properties + R"(},"required":[)" + required + "]}",
                    "schema");
  EXPECT_TRUE(contract) << contract.error().message;
  return *contract;
}

std::vector<std::string> messages(const std::vector<ContractFinding>& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings) {
    out.push_back((finding.severity == FindingSeverity::note ? "note: " : "") + finding.message);
  }
  return out;
}

// What the change from one property `f` to another one yields, with the version raised.
std::vector<std::string> change(const std::string& kept, const std::string& current) {
  return messages(compare(contract_of(R"("f":)" + kept, R"("f")", 1), contract_of(R"("f":)" + current, R"("f")", 2)));
}

const std::string kText = R"("a":{"type":"string"})";
const std::string kBoth = R"("a":{"type":"string"},"b":{"type":["integer","null"]})";

TEST(ContractChange, NothingChangedIsNoFinding) {
  EXPECT_THAT(compare(contract_of(kBoth, R"("a")", 1), contract_of(kBoth, R"("a")", 1)), IsEmpty());
}

TEST(ContractChange, ANewOptionalFieldIsAllowedWithAHigherVersion) {
  EXPECT_THAT(compare(contract_of(kText, R"("a")", 1), contract_of(kBoth, R"("a")", 2)), IsEmpty());
  const auto findings = compare(contract_of(kText, R"("a")", 1), contract_of(kBoth, R"("a")", 1));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path, "event_version");
  EXPECT_EQ(findings[0].message, "event_version is still 1 although the fields changed");
  EXPECT_EQ(findings[0].remedy, "raise kEventVersion to 2");
}

TEST(ContractChange, ContractSnapshotRefusesARemovedField) {
  const auto findings = compare(contract_of(kBoth, R"("a")", 1), contract_of(kText, R"("a")", 2));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, FindingSeverity::breaking);
  EXPECT_EQ(findings[0].event_type, "decision.recorded");
  EXPECT_EQ(findings[0].event_version, 2);
  EXPECT_EQ(findings[0].path, "payload.b");
  EXPECT_EQ(findings[0].message, "payload.b was removed");
  EXPECT_EQ(findings[0].remedy,
            "publish the new shape as the event type decision.recorded.v2 and announce a deadline until which "
            "decision.recorded is still published");
}

TEST(ContractChange, ANewRequiredFieldIsRefused) {
  const auto findings = compare(contract_of(kText, R"("a")", 1), contract_of(kBoth, R"("a","b")", 2));
  EXPECT_THAT(messages(findings), ElementsAre("payload.b is new and required: stored events lack it"));
  EXPECT_TRUE(findings[0].remedy.starts_with("make it std::optional; if it must be there, publish"))
      << findings[0].remedy;
}

TEST(ContractChange, WhetherAFieldMayBeAbsentNeverChanges) {
  EXPECT_THAT(messages(compare(contract_of(kText, "", 1), contract_of(kText, R"("a")", 2))),
              ElementsAre("payload.a was optional and is now required: stored events may lack it"));
  EXPECT_THAT(messages(compare(contract_of(kText, R"("a")", 1), contract_of(kText, "", 2))),
              ElementsAre("payload.a was required and is now optional: its readers rely on it"));
  EXPECT_THAT(change(R"({"type":"string"})", R"({"type":["string","null"]})"),
              ElementsAre("payload.f may now be null"));
  EXPECT_THAT(change(R"({"type":["string","null"]})", R"({"type":"string"})"),
              ElementsAre("payload.f may no longer be null"));
}

TEST(ContractChange, TypesAndFormatsNeverChange) {
  EXPECT_THAT(change(R"({"type":"string"})", R"({"type":"integer","format":"int32"})"),
              ElementsAre("payload.f changed its type from string to integer (int32)"));
  EXPECT_THAT(change(R"({"type":"integer","format":"int32"})", R"({"type":"integer","format":"int64"})"),
              ElementsAre("payload.f changed its format from int32 to int64"));
  EXPECT_THAT(change(R"({"type":"string","format":"uuid"})", R"({"type":"string"})"),
              ElementsAre("payload.f changed its format from uuid to none"));
  EXPECT_THAT(change("{}", R"({"type":"string"})"), ElementsAre("payload.f changed its type from any value to string"));
}

TEST(ContractChange, EnumValuesAreOnlyAdded) {
  const std::string one = R"({"type":"string","enum":["low"]})";
  const std::string two = R"({"type":"string","enum":["low","high"]})";
  EXPECT_THAT(change(two, one), ElementsAre("payload.f lost the enum value high"));
  EXPECT_THAT(change(one, two), ElementsAre("note: payload.f gained the enum value high"));
  EXPECT_THAT(change(one, R"({"type":"string"})"), ElementsAre("payload.f now takes any string"));
  EXPECT_THAT(change(R"({"type":"string"})", one), ElementsAre("payload.f now takes only certain strings"));
}

TEST(ContractChange, ArraysAndObjectsAreComparedInside) {
  EXPECT_THAT(change(R"({"type":"array","items":{"type":"string"}})", R"({"type":"array","items":{"type":"number"}})"),
              ElementsAre("payload.f[] changed its type from string to number"));
  EXPECT_THAT(
      change(R"({"type":"array","items":{"type":"string"}})", R"({"type":"array","items":{"type":["string","null"]}})"),
      ElementsAre("payload.f[] may now be null"));
  EXPECT_THAT(change(R"({"type":"array","items":{"type":"object","properties":{"x":{}}}})",
                     R"({"type":"array","items":{"type":"object","properties":{"y":{}}}})"),
              ElementsAre("payload.f[].x was removed"));
}

TEST(ContractChange, DescriptionsMayChange) {
  EXPECT_THAT(compare(contract_of(R"("a":{"description":"old"})", "", 1), contract_of(R"("a":{"title":"new"})", "", 1)),
              IsEmpty());
}

TEST(ContractChange, TheVersionNeverGoesBack) {
  EXPECT_THAT(messages(compare(contract_of(kText, "", 3), contract_of(kText, "", 2))),
              ElementsAre("event_version went back from 3 to 2"));
}

TEST(ContractChange, EveryChangeIsReported) {
  const auto findings = compare(contract_of(kBoth, R"("a")", 1), contract_of(R"("a":{"type":"boolean"})", R"("a")", 1));
  EXPECT_THAT(messages(findings),
              ElementsAre("payload.a changed its type from string to boolean", "payload.b was removed",
                          "event_version is still 1 although the fields changed"));
  EXPECT_TRUE(has_breaking(findings));
  EXPECT_FALSE(has_breaking({}));
}

TEST(ContractChange, TheSuccessorOfATypeHasTheNextSuffix) {
  EXPECT_EQ(successor_type("decision.recorded"), "decision.recorded.v2");
  EXPECT_EQ(successor_type("decision.recorded.v2"), "decision.recorded.v3");
  EXPECT_EQ(successor_type("decision.v2.recorded"), "decision.v2.recorded.v2");
  EXPECT_EQ(successor_type("decision.video"), "decision.video.v2");
}

}  // namespace

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
