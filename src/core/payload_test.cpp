#include <gtest/gtest.h>

#include <limits>
#include <sluice/payload.hpp>

#include "core/payload_samples.hpp"

namespace sluice {
namespace {

using test::an_order;
using test::Item;
using test::kOrderJson;
using test::OrderPlaced;

struct Nothing {
  static constexpr auto fields() { return std::tuple{}; }
};

struct Grid {
  std::vector<bool> flags;
  std::vector<std::vector<long long>> rows;
  bool operator==(const Grid&) const = default;
  static constexpr auto fields() { return std::tuple{field("flags", &Grid::flags), field("rows", &Grid::rows)}; }
};

struct NamedGrid : Grid {
  std::string name;
  static constexpr auto fields() { return std::tuple_cat(Grid::fields(), std::tuple{field("name", &NamedGrid::name)}); }
};

EnvelopeDraft draft_of(std::string payload) {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "shop.order.placed";
  draft.occurred_at = *parse_iso8601("2026-04-25T01:43:02Z");
  draft.source = "shop";
  draft.payload = std::move(payload);
  return draft;
}

TEST(Payload, WritesTheFieldsInOrderAndLeavesEmptyOptionalsOut) { EXPECT_EQ(to_payload(an_order()), kOrderJson); }

TEST(Payload, ReadsBackWhatItWrote) {
  const auto read = from_payload<OrderPlaced>(to_payload(an_order()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, an_order());
}

TEST(Payload, AStructWithoutFieldsIsAnEmptyObject) {
  EXPECT_EQ(to_payload(Nothing{}), "{}");
  EXPECT_TRUE(from_payload<Nothing>(R"({"a":1})"));
}

TEST(Payload, ListsMayBeNestedAndFieldsInherited) {
  NamedGrid grid;
  grid.flags = {true, false};
  grid.rows = {{1, -9'223'372'036'854'775'807 - 1}, {}};
  grid.name = "g";
  EXPECT_EQ(to_payload(grid), R"({"flags":[true,false],"rows":[[1,-9223372036854775808],[]],"name":"g"})");
  const auto read = from_payload<NamedGrid>(to_payload(grid));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(static_cast<const Grid&>(*read), grid);
  EXPECT_EQ(from_payload<NamedGrid>(R"({"flags":[],"rows":[[1],[2,"x"]],"name":""})").error().field,
            "payload.rows[1][1]");
}

TEST(Payload, NumbersBeyond64BitsPassThroughRawJson) {
  OrderPlaced order = an_order();
  order.extra = RawJson{R"({ "n" : 340282366920938463463374607431768211456 })"};
  const auto read = from_payload<OrderPlaced>(to_payload(order));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->extra->text, R"({ "n" : 340282366920938463463374607431768211456 })");
  EXPECT_EQ(read->total.text, "12345678901234567890123456789.000001");
}

TEST(Payload, UnknownMembersOrderAndWhiteSpaceDoNotMatter) {
  const auto read = from_payload<Item>(" \n{ \"later\": [1,{}], \"price\" : 2 ,\"sku\":\"\\u00e9\"}\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Item{"é", 2, std::nullopt}));
}

TEST(Payload, AnOptionalMayBeAbsentOrNull) {
  EXPECT_EQ(from_payload<Item>(R"({"sku":"a","price":1})")->count, std::nullopt);
  EXPECT_EQ(from_payload<Item>(R"({"sku":"a","price":1,"count":null})")->count, std::nullopt);
  EXPECT_EQ(from_payload<Item>(R"({"sku":"a","price":1,"count":7})")->count, 7);
}

TEST(Payload, EveryDoubleReadsBackAsItself) {
  for (const double value : {0.1, -0.0, 1e-308, 5e-324, 1.7976931348623157e308, 9007199254740993.0}) {
    const auto read = from_payload<Item>(to_payload(Item{"a", value, {}}));
    ASSERT_TRUE(read) << value;
    EXPECT_EQ(read->price, value);
  }
}

TEST(Payload, WhatHasNoJsonFormIsNeverPublished) {
  const auto refused = [](auto change) {
    OrderPlaced order = an_order();
    change(order);
    return !EventEnvelope::make(draft_of(to_payload(order)));
  };
  EXPECT_FALSE(refused([](OrderPlaced&) {}));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.items[0].price = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.items[0].price = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.severity = test::Severity::unnamed; }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.placed_at = Timestamp::max(); }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.total.text = R"(1,"admin":true)"; }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.total.text = ""; }));
  EXPECT_TRUE(refused([](OrderPlaced& o) { o.note = std::string("\0", 1); }));
}

TEST(Payload, FillsADraftAndReadsAnEnvelope) {
  EnvelopeDraft draft = draft_of("{}");
  draft.event_type.clear();
  set_payload(draft, an_order());
  EXPECT_EQ(draft.event_type, "shop.order.placed");
  EXPECT_EQ(draft.event_version, 3);
  const auto envelope = EventEnvelope::make(draft);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_EQ(*read_payload<OrderPlaced>(*envelope), an_order());
}

TEST(Payload, AnotherEventTypeIsNotRead) {
  EnvelopeDraft draft = draft_of(to_payload(an_order()));
  draft.event_type = "shop.order.placed.v2";
  const auto read = read_payload<OrderPlaced>(*EventEnvelope::make(draft));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().field, "event_type");
  EXPECT_EQ(read.error().message, "event_type must be shop.order.placed to be read as such, not shop.order.placed.v2");
}

// The envelope is the contract that all events share: a change of this text breaks every consumer.
TEST(Contract, EnvelopeShapeIsPinned) {
  EnvelopeDraft draft = draft_of(R"({"n":1})");
  EXPECT_EQ(EventEnvelope::make(draft)->to_json(),
            R"({"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","event_type":"shop.order.placed","event_version":1,)"
            R"("occurred_at":"2026-04-25T01:43:02.000000Z","source":"shop","target":null,"workspace_id":null,)"
            R"("payload":{"n":1},"idempotency_key":"01890a5d-ac96-774b-bcce-b302099a8057","trace_context":null})");
}

}  // namespace
}  // namespace sluice
