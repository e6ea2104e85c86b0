#include "host/local_time.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sluice::host {
namespace {

class LocalTime : public testing::Test {
 protected:
  static std::string in(const char* zone) {
    ::setenv("TZ", zone, 1);
    return local_time(parse_iso8601("2026-04-25T22:43:02.5Z").value());
  }
  void TearDown() override { ::unsetenv("TZ"); }
};

// Zones are written out: they need no database of zones.
TEST_F(LocalTime, IsThatOfTheZone) {
  EXPECT_EQ(in("CET-1CEST,M3.5.0,M10.5.0/3"), "2026-04-26 00:43:02 CEST");
  EXPECT_EQ(in("EST5"), "2026-04-25 17:43:02 EST");
}

TEST_F(LocalTime, IsNothingWhereItIsUtc) { EXPECT_EQ(in("UTC0"), ""); }

}  // namespace
}  // namespace sluice::host
