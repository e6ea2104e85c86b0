#include "config/store_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(StoreUrl, ReadsAnSqlitePath) {
  const auto url = parse_store_url("sqlite:data/sluice.db", "--store");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->kind, StoreUrl::Kind::sqlite);
  EXPECT_EQ(url->location, "data/sluice.db");
  EXPECT_EQ(url->display(), "sqlite:data/sluice.db");
}

TEST(StoreUrl, ReadsAnSqliteUrlWithSlashes) {
  const auto url = parse_store_url("sqlite:///var/lib/sluice.db", "--store");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->location, "/var/lib/sluice.db");
}

TEST(StoreUrl, KeepsThePostgresUrlWholeAndHidesThePasswordFromPeople) {
  for (const std::string text : {"postgres://u:secret@h/db", "postgresql://u:secret@h/db"}) {
    const auto url = parse_store_url(text, "--store");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->kind, StoreUrl::Kind::postgres);
    EXPECT_EQ(url->location, text);
    EXPECT_THAT(url->display(), Not(HasSubstr("secret")));
  }
}

TEST(StoreUrl, RefusesAnythingElseAndNamesTheAcceptedForms) {
  for (const std::string text : {"", "sqlite:", "mysql://root:secret@h/db", "/var/lib/sluice.db"}) {
    const auto url = parse_store_url(text, "DATABASE_URL");
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, ErrorCode::invalid);
    EXPECT_THAT(url.error().message, HasSubstr("DATABASE_URL"));
    EXPECT_THAT(url.error().message, Not(HasSubstr("secret")));
    EXPECT_THAT(url.error().hint, HasSubstr("--store"));
    EXPECT_THAT(url.error().hint, HasSubstr("SLUICE_STORE"));
    EXPECT_THAT(url.error().hint, HasSubstr("sqlite:PATH"));
  }
}

}  // namespace
}  // namespace sluice::config
