#include "ops/event_list.hpp"

#include <gtest/gtest.h>

#include "tests/cli/fake_store.hpp"

namespace sluice::ops {
namespace {

class EventListing : public testing::Test {
 protected:
  EventListing() {
    for (int number = 1; number <= 5; ++number) data_.events.push_back(test::a_record(test::id_of(number)));
  }
  test::FakeData data_;
  test::FakeStore store_{data_};
};

TEST_F(EventListing, PagesThroughEverythingOnce) {
  ListRequest request;
  request.limit = 2;
  std::vector<Uuid> seen;
  do {
    const auto page = list_events(store_, request);
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& event : page->events) seen.push_back(event.envelope.event_id());
    request.cursor = page->next_cursor;
  } while (request.cursor);
  EXPECT_EQ(seen, (std::vector{test::id_of(5), test::id_of(4), test::id_of(3), test::id_of(2), test::id_of(1)}));
}

TEST_F(EventListing, RefusesBadBoundsAndNamesThem) {
  const auto field = [&](const ListRequest& request) {
    const auto page = list_events(store_, request);
    return page ? std::string{"accepted"} : page.error().field;
  };
  EXPECT_EQ(field({{}, 0, {}}), "limit");
  EXPECT_EQ(field({{}, kMaxPage + 1, {}}), "limit");
  EXPECT_EQ(field({{}, kMaxPage, {}}), "accepted");
  EXPECT_EQ(field({{}, 1, "12x"}), "cursor");
  EXPECT_EQ(field({{}, 1, ""}), "cursor");
  ListRequest crossed;
  crossed.filter.since = data_.now;
  crossed.filter.until = data_.now;
  EXPECT_EQ(field(crossed), "since");
}

TEST_F(EventListing, PassesAnErrorOn) {
  data_.failures["list_events"] = {ErrorCode::unavailable, Retry::safe, "away", "", ""};
  EXPECT_EQ(list_events(store_, {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
