// Searches by payload and trace, the order of lists, saved filters, and the indexes that serve a search.
#include <algorithm>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::EventFilter;
using store::IndexRequest;
using store::SearchIndex;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* kTrace = "0af7651916cd43dd8448eb211c80319c";

NewEvent carrying(const std::string& payload, const std::string& trace = "") {
  EnvelopeDraft draft = a_draft();
  draft.payload = payload;
  if (!trace.empty()) draft.trace_context = "00-" + trace + "-b7ad6b7169203331-01";
  return an_event(std::move(draft));
}

class SearchContract : public StoreContract {
 protected:
  std::vector<Uuid> found(const EventFilter& filter) {
    std::vector<Uuid> ids;
    for (const EventRecord& record : must(store().list_events(filter, 100, {})).events) {
      ids.push_back(record.envelope.event_id());
    }
    return ids;
  }
  std::vector<Uuid> with(std::vector<std::string> path, std::string value, bool only_text = false) {
    EventFilter filter;
    filter.payload = {{std::move(path), std::move(value), only_text}};
    return found(filter);
  }
  bool has_indexes() { return store().capabilities().search_indexes; }
  void make(const IndexRequest& request) {
    for (int step = 0; step < 100; ++step) {
      if (!must(store().take_index_step({request.index, request.drop, step == 0}, operator_alice()))) return;
    }
    FAIL() << "no end";
  }
};
SLUICE_OVER_EVERY_STORE(SearchContract);

TEST_P(SearchContract, FindsByAValueOfThePayload) {
  const Uuid number = publish(carrying(R"({"order_id":4711,"paid":true,"note":null})"));
  const Uuid text = publish(carrying(R"({"order_id":"4711","paid":"true"})"));
  publish(carrying(R"({"order_id":47110})"));
  publish(carrying(R"({"other":4711})"));
  EXPECT_THAT(with({"order_id"}, "4711"), ElementsAre(text, number));
  EXPECT_THAT(with({"order_id"}, "4711", true), ElementsAre(text));
  EXPECT_THAT(with({"paid"}, "true"), ElementsAre(text, number));
  EXPECT_THAT(with({"note"}, "null"), ElementsAre(number));
  EXPECT_THAT(with({"order_id"}, "471"), IsEmpty());
}

TEST_P(SearchContract, TheWayLeadsInwardsAndThroughArrays) {
  const Uuid id =
      publish(carrying(R"({"order":{"lines":[{"sku":"a"},{"sku":"b"}],"tags":["x",["y"]]},"amount":12.50})"));
  publish(carrying(R"({"sku":"b","tags":"x","amount":"12.5.0"})"));
  EXPECT_THAT(with({"order", "lines", "sku"}, "b"), ElementsAre(id));
  EXPECT_THAT(with({"order", "tags"}, "x"), ElementsAre(id));
  EXPECT_THAT(with({"order", "tags"}, "y"), IsEmpty());
  EXPECT_THAT(with({"amount"}, "12.5"), ElementsAre(id));
  EXPECT_THAT(with({"amount"}, "1.25e1"), ElementsAre(id));
}

TEST_P(SearchContract, NoTextIsTooOddToLookFor) {
  const Uuid id = publish(carrying(R"({"a b\"c\\d":"it's \"x\" \\ $.y == 1 || true é\n"})"));
  EXPECT_THAT(with({"a b\"c\\d"}, "it's \"x\" \\ $.y == 1 || true é\n"), ElementsAre(id));
  EXPECT_THAT(with({"a b\"c\\d"}, "\" || true || \""), IsEmpty());
  EXPECT_THAT(with({"x\" == 1 || true || $.\"x"}, "1"), IsEmpty());
  EXPECT_THAT(with({"a"}, "-1e999999"), IsEmpty());
  EXPECT_THAT(with({"a"}, "00"), IsEmpty());
}

TEST_P(SearchContract, AllTermsMustMatchAndSoMustTheRest) {
  NewEvent event = carrying(R"({"a":1,"b":2})");
  const Uuid id = publish(event);
  publish(carrying(R"({"a":1,"b":3})"));
  EventFilter filter;
  filter.payload = {{{"a"}, "1"}, {{"b"}, "2"}};
  EXPECT_THAT(found(filter), ElementsAre(id));
  filter.event_type = "test.other";
  EXPECT_THAT(found(filter), IsEmpty());
}

TEST_P(SearchContract, FindsByTraceId) {
  const Uuid first = publish(carrying("{}", kTrace));
  const Uuid second = publish(carrying("{}", kTrace));
  publish(carrying("{}", "1af7651916cd43dd8448eb211c80319c"));
  publish();
  EventFilter filter;
  filter.trace_id = kTrace;
  EXPECT_THAT(found(filter), ElementsAre(second, first));
}

TEST_P(SearchContract, DeadLettersInListsCountsGroupsAndPlans) {
  const Uuid id = failed_event(carrying(R"({"order_id":4711})", kTrace));
  failed_event(carrying(R"({"order_id":1})", "1af7651916cd43dd8448eb211c80319c"));
  EventFilter by_payload;
  by_payload.payload = {{{"order_id"}, "4711"}};
  EventFilter by_trace;
  by_trace.trace_id = kTrace;
  for (const EventFilter& filter : {by_payload, by_trace}) {
    const auto page = must(store().list_dead(filter, 10, {}));
    ASSERT_THAT(page.events, SizeIs(1));
    EXPECT_EQ(page.events[0].envelope.event_id(), id);
    EXPECT_EQ(must(store().count_dead(filter, 10)), 1);
    const auto groups = must(store().failure_groups(filter));
    ASSERT_THAT(groups, SizeIs(1));
    EXPECT_EQ(groups[0].count, 1);
    store::PlanRequest plan;
    plan.id = new_id();
    plan.kind = OperationKind::discard;
    plan.filter = filter;
    plan.filter_text = "data.order_id:4711";
    plan.valid_for = 10min;
    plan.actor = operator_alice();
    EXPECT_EQ(must(store().plan_operation(plan)).progress.counts.total, 1);
  }
}

TEST_P(SearchContract, OldestFirstInPagesWithoutGapOrOverlap) {
  const auto published = publish(events(7));
  EventFilter filter;
  filter.oldest_first = true;
  for (const auto status : {std::optional<Status>{}, std::optional{Status::pending}}) {
    filter.status = status;
    std::vector<Uuid> seen;
    std::optional<std::int64_t> after;
    int pages = 0;
    do {
      const auto page = must(store().list_events(filter, 3, after));
      for (const EventRecord& record : page.events) seen.push_back(record.envelope.event_id());
      after = page.next;
    } while (after && ++pages < 10);
    EXPECT_THAT(seen, ElementsAreArray(published));
  }
}

TEST_P(SearchContract, OldestFirstAmongFailedAndDead) {
  std::vector<Uuid> failed;
  for (int number = 0; number < 5; ++number) failed.push_back(failed_event());
  EventFilter filter;
  filter.oldest_first = true;
  filter.status = Status::failed;
  EXPECT_THAT(found(filter), ElementsAreArray(failed));
  filter.status.reset();
  for (const std::string type : {"", "test.*"}) {
    filter.event_type = type;
    std::vector<Uuid> seen;
    std::optional<store::DeadCursor> after;
    int pages = 0;
    do {
      const auto page = must(store().list_dead(filter, 2, after));
      for (const EventRecord& record : page.events) seen.push_back(record.envelope.event_id());
      after = page.next;
    } while (after && ++pages < 10);
    EXPECT_THAT(seen, ElementsAreArray(failed));
  }
}

TEST_P(SearchContract, OldestFirstKeepsToTheTimes) {
  const Uuid first = failed_event();
  const Uuid second = failed_event();
  const Uuid third = failed_event();
  EventFilter filter;
  filter.oldest_first = true;
  filter.since = event(second).failed_at;
  filter.until = *event(third).failed_at;
  const auto page = must(store().list_dead(filter, 10, {}));
  for (const EventRecord& record : page.events) EXPECT_NE(record.envelope.event_id(), third);
  filter.until.reset();
  filter.since = *event(first).failed_at + 1h;
  EXPECT_THAT(must(store().list_dead(filter, 10, {})).events, IsEmpty());
}

TEST_P(SearchContract, AnIndexIsMadeAndDropped) {
  if (!has_indexes()) {
    EXPECT_FALSE(must(store().has_index(SearchIndex::payload)));
    refused(store().index_sql({}), ErrorCode::invalid, "no index of payloads");
    refused(store().take_index_step({}, operator_alice()), ErrorCode::invalid, "no index of payloads");
    return;
  }
  const Uuid id = publish(carrying(R"({"order_id":4711})", kTrace));
  for (const SearchIndex index : {SearchIndex::payload, SearchIndex::trace}) {
    EXPECT_FALSE(must(store().has_index(index)));
    make({index, false});
    EXPECT_TRUE(must(store().has_index(index)));
    EXPECT_THAT(must(store().index_sql({index, false})), IsEmpty()) << "it is run again and finds nothing to do";
    EXPECT_THAT(must(store().validate()), IsEmpty());
  }
  EXPECT_THAT(with({"order_id"}, "4711"), ElementsAre(id));
  for (const SearchIndex index : {SearchIndex::payload, SearchIndex::trace}) {
    make({index, true});
    EXPECT_FALSE(must(store().has_index(index)));
    EXPECT_THAT(must(store().index_sql({index, true})), IsEmpty());
  }
  const auto audit = must(store().audit({.action = "index.*"}, 10, {}));
  ASSERT_THAT(audit, SizeIs(4)) << "once per run";
  EXPECT_EQ(audit[3].action, "index.create");
  EXPECT_EQ(audit[0].action, "index.drop");
}

TEST_P(SearchContract, ASavedFilterIsKeptReplacedAndRemoved) {
  must(store().save_filter("late", "type:a since:2h", operator_alice()));
  must(store().save_filter("big", "type:b", operator_alice()));
  Actor bob = operator_alice();
  bob.name = "bob@example.com";
  const auto replaced = must(store().save_filter("late", "type:c", bob));
  EXPECT_EQ(replaced.filter, "type:c");
  const auto saved = must(store().saved_filters());
  ASSERT_THAT(saved, SizeIs(2));
  EXPECT_EQ(saved[0].name, "big");
  EXPECT_EQ(saved[1].filter, "type:c");
  EXPECT_EQ(saved[1].saved_by, "bob@example.com");
  must(store().remove_filter("late", bob));
  EXPECT_THAT(must(store().saved_filters()), SizeIs(1));
  refused(store().remove_filter("late", bob), ErrorCode::not_found, "late");
  refused(store().save_filter("", "type:c", bob), ErrorCode::invalid, "needs a name");
  const auto audit = must(store().audit({.action = "filter.*"}, 10, {}));
  ASSERT_THAT(audit, SizeIs(4));
  EXPECT_EQ(audit[0].action, "filter.remove");
  EXPECT_THAT(audit[0].detail, HasSubstr("type:c"));
  EXPECT_EQ(audit[3].action, "filter.save");
}

}  // namespace
}  // namespace sluice::contract
