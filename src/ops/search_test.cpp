#include "ops/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/event_query.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const store::Actor kSaver{"alice@example.com", "cli", "the late ones"};

/// Says that it has the index, or that it can be given one.
class IndexedStore : public test::FaultyStore {
 public:
  using FaultyStore::FaultyStore;
  std::vector<store::SearchIndex> there;
  std::vector<std::string> left;
  int busy = 0;
  std::vector<bool> first;

  [[nodiscard]] store::Capabilities capabilities() const override { return {.search_indexes = true}; }
  Result<bool> has_index(store::SearchIndex index) override {
    return std::find(there.begin(), there.end(), index) != there.end();
  }
  Result<std::vector<std::string>> index_sql(const store::IndexRequest&) override { return left; }
  Result<bool> take_index_step(const store::IndexRequest& request, const store::Actor&) override {
    first.push_back(request.first);
    if (busy-- > 0) return Error{ErrorCode::timeout, Retry::safe, "core.outbox is in use", {}, {}};
    if (left.empty()) return false;
    left.erase(left.begin());
    return true;
  }
};

class Search : public testing::Test {
 protected:
  Result<store::EventFilter> filter_of(std::string_view text, store::Administering& store) {
    return EventQuery::parse(text).value().filter(store);
  }
  std::string complaint(std::string_view text) {
    const auto filter = filter_of(text, *store_);
    EXPECT_FALSE(filter) << text;
    return filter ? "" : filter.error().message;
  }

  test::EmbeddedStore store_;
  IndexedStore indexed_{store_.whole()};
  std::vector<std::string> said_;
  IndexVoice voice_{[this](const std::string& sentence) { said_.push_back(sentence); }, [](Duration) { return true; }};
};

TEST_F(Search, WithoutAnIndexItNeedsATimeRange) {
  EXPECT_THAT(complaint("data.order_id:4711"), HasSubstr("data.order_id: there is no index"));
  EXPECT_THAT(complaint("data.order_id:4711 until:2h"), HasSubstr("add since:24h"));
  EXPECT_THAT(complaint("trace:0123456789abcdef0123456789abcdef"), HasSubstr("trace: there is no index"));
  EXPECT_TRUE(filter_of("data.order_id:4711 since:24h", *store_));
  EXPECT_TRUE(filter_of("data.order_id:4711 key:order-7", *store_));
  EXPECT_TRUE(filter_of("trace:0123456789abcdef0123456789abcdef since:1h", *store_));
}

TEST_F(Search, WithTheIndexItNeedsNone) {
  indexed_.there = {store::SearchIndex::payload};
  EXPECT_TRUE(filter_of("data.order_id:4711", indexed_));
  const auto trace = filter_of("trace:0123456789abcdef0123456789abcdef", indexed_);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().field, "filter");
  EXPECT_THAT(trace.error().hint, HasSubstr("sluice db index trace"));
}

TEST_F(Search, AnEmbeddedStoreHasNoIndexToMake) {
  for (const auto& answer : {plan_index(*store_, {}), change_index(*store_, {}, voice_)}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().field, "store");
    EXPECT_THAT(answer.error().message, HasSubstr("has no payload index"));
  }
}

TEST_F(Search, TakesEveryStepAndIsAuditedOnce) {
  indexed_.left = {"one", "two"};
  indexed_.busy = 1;
  const auto report = change_index(indexed_, {}, voice_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->sql, ElementsAre("one", "two"));
  EXPECT_FALSE(report->interrupted);
  EXPECT_THAT(indexed_.first, ElementsAre(true, false, false));
  EXPECT_THAT(said_, ElementsAre("one", "core.outbox is in use; trying again", "two"));
}

TEST_F(Search, GivesUpOnATableThatIsNeverFree) {
  indexed_.left = {"one"};
  indexed_.busy = 100;
  const auto report = change_index(indexed_, {.tries = 3}, voice_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::conflict);
  EXPECT_THAT(report.error().message, HasSubstr("tried 3 times"));
}

TEST_F(Search, AnInterruptionLeavesTheRestForTheNextRun) {
  indexed_.left = {"one", "two"};
  voice_.wait = [](Duration) { return false; };
  const auto report = change_index(indexed_, {}, voice_);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->interrupted);
  EXPECT_THAT(report->sql, ElementsAre("one"));
}

TEST_F(Search, ASavedFilterIsUsedByItsName) {
  const auto saved = save_filter(*store_, "late", "since:2h type:order.*", kSaver);
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(saved->filter, "type:order.* since:2h");
  EXPECT_EQ(saved->saved_by, "alice@example.com");
  const auto filter = filter_of("saved:late source:shop", *store_);
  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->event_type, "order.*");
  EXPECT_EQ(filter->source, "shop");
  EXPECT_TRUE(filter->since);
  EXPECT_EQ(EventQuery::parse("saved:late source:shop")->expanded(*store_)->text(),
            "type:order.* source:shop since:2h");
}

TEST_F(Search, ASavedFilterIsChecked) {
  const auto field = [&](const std::string& name, const std::string& filter) {
    const auto saved = save_filter(*store_, name, filter, kSaver);
    return saved ? std::string{"saved"} : saved.error().field;
  };
  EXPECT_EQ(field("", "type:a"), "name");
  EXPECT_EQ(field("two words", "type:a"), "name");
  EXPECT_EQ(field("late", ""), "filter");
  EXPECT_EQ(field("late", "tpye:a"), "filter");
  EXPECT_EQ(field("late", "since:yesterday"), "filter");
  EXPECT_EQ(field("late", "saved:other"), "filter");
  EXPECT_EQ(field("late", "data.order_id:4711"), "saved") << "whether it needs a time range is asked when it is used";
}

TEST_F(Search, WhatIsNotSavedIsNotFound) {
  EXPECT_THAT(complaint("saved:late"), HasSubstr("no filter is saved as late"));
  ASSERT_TRUE(save_filter(*store_, "late", "type:a", kSaver));
  EXPECT_THAT(complaint("saved:late type:b"), HasSubstr("type twice"));
  ASSERT_TRUE(remove_filter(*store_, "late", kSaver));
  EXPECT_EQ(remove_filter(*store_, "late", kSaver).error().code, ErrorCode::not_found);
  EXPECT_THAT(*list_filters(*store_), SizeIs(0));
}

}  // namespace
}  // namespace sluice::ops
