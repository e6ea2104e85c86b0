#include "http_client/http_client.hpp"

#include <gtest/gtest.h>

namespace sluice::http_client {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow = *parse_iso8601("2026-10-21T07:27:00Z");

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", kNow), 0s);
  EXPECT_EQ(parse_retry_after("120", kNow), 120s);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2026 07:28:00 GMT", kNow), 60s);
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2026 07:26:00 GMT", kNow), 0s) << "the past";
  EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT", kNow), 24h);
  EXPECT_EQ(parse_retry_after("99999999999999999999", kNow), 24h);
  for (const char* text : {"", "-1", "1.5", "soon", "Wed, 21 Xxx 2026 07:28:00 GMT", "Wed, 99 Oct 2026 07:28:00 GMT"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sluice::http_client
