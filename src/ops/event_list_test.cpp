#include "ops/event_query.hpp"

#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

class EventListing : public testing::Test {
 protected:
  EventListing() {
    for (int number = 1; number <= 5; ++number) store_.publish(test::id_of(number));
  }
  test::EmbeddedStore store_;
};

TEST_F(EventListing, PagesThroughEverythingOnce) {
  ListRequest request;
  request.limit = 2;
  std::vector<Uuid> seen;
  do {
    const auto page = list_events(*store_, request);
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& event : page->events) seen.push_back(event.envelope.event_id());
    request.cursor = page->next_cursor;
  } while (request.cursor);
  EXPECT_EQ(seen, (std::vector{test::id_of(5), test::id_of(4), test::id_of(3), test::id_of(2), test::id_of(1)}));
}

TEST_F(EventListing, PagesTheOtherWayRound) {
  ListRequest request;
  request.limit = 2;
  request.filter.oldest_first = true;
  std::vector<Uuid> seen;
  do {
    const auto page = list_events(*store_, request);
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& event : page->events) seen.push_back(event.envelope.event_id());
    request.cursor = page->next_cursor;
  } while (request.cursor);
  EXPECT_EQ(seen, (std::vector{test::id_of(1), test::id_of(2), test::id_of(3), test::id_of(4), test::id_of(5)}));
}

TEST_F(EventListing, ACursorOfTheOtherSortIsRefused) {
  for (const bool oldest : {false, true}) {
    ListRequest request;
    request.limit = 2;
    request.filter.oldest_first = oldest;
    request.cursor = list_events(*store_, request)->next_cursor;
    ASSERT_TRUE(request.cursor);
    request.filter.oldest_first = !oldest;
    const auto page = list_events(*store_, request);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().field, "cursor");
    EXPECT_NE(page.error().message.find(oldest ? "sorted by oldest" : "sorted by newest"), std::string::npos);
  }
  EXPECT_EQ(oldest_first("sideways", "--sort").error().field, "--sort");
}

TEST_F(EventListing, RefusesBadBoundsAndNamesThem) {
  const auto field = [&](const ListRequest& request) {
    const auto page = list_events(*store_, request);
    return page ? std::string{"accepted"} : page.error().field;
  };
  EXPECT_EQ(field({{}, 0, {}}), "limit");
  EXPECT_EQ(field({{}, kMaxPage + 1, {}}), "limit");
  EXPECT_EQ(field({{}, kMaxPage, {}}), "accepted");
  EXPECT_EQ(field({{}, 1, "12x"}), "cursor");
  EXPECT_EQ(field({{}, 1, ""}), "cursor");
  ListRequest crossed;
  crossed.filter.since = store_.now;
  crossed.filter.until = store_.now;
  EXPECT_EQ(field(crossed), "since");
}

TEST_F(EventListing, PassesAnErrorOn) {
  test::FaultyAdministering faulty{store_};
  faulty.fail_verb("list_events", {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  EXPECT_EQ(list_events(faulty, {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
