#include "core/address_template.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

EventEnvelope addressed_event(std::string type, std::optional<std::string> target = {}) {
  EnvelopeDraft draft;
  draft.event_type = std::move(type);
  draft.source = "billing";
  draft.target = std::move(target);
  return EventEnvelope::trusted(draft);
}

TEST(AddressTemplate, TakesItsWordsFromTheEvent) {
  const auto made = AddressTemplate::parse("events.{generation}.{source}.{target}.{workspace}.{type}", "subject");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->fill(addressed_event("order.paid", "shop"), 3), "events.3.billing.shop.all.order.paid");
  EXPECT_EQ(made->fill(addressed_event("order.paid"), 3), "events.3.billing.all.all.order.paid");
  EXPECT_EQ(AddressTemplate::parse("plain", "stream")->fill(addressed_event("a"), 1), "plain");
}

TEST(AddressTemplate, AnEventDoesNotChooseAWildcard) {
  EXPECT_EQ(AddressTemplate::parse("e.{type}", "subject")->fill(addressed_event("a b.*.>"), 1), "e.a_b._._");
}

TEST(AddressTemplate, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(AddressTemplate::parse("e.{typ}", "subject").error().message,
            "subject knows {type}, {source}, {target}, {workspace} and {generation}, not {typ}");
  for (const std::string_view text : {"e.{type", "e.}", "{"}) {
    EXPECT_EQ(AddressTemplate::parse(text, "stream").error().message, "stream has a brace without its other half")
        << text;
  }
  EXPECT_EQ(AddressTemplate::parse("", "stream").error().field, "stream");
}

}  // namespace
}  // namespace sluice
