#include "core/redact.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

using Case = std::pair<std::string_view, std::string_view>;

class Redaction : public testing::TestWithParam<Case> {};

TEST_P(Redaction, HidesThePasswordAndNothingElse) {
  const auto& [given, expected] = GetParam();
  EXPECT_EQ(redact_dsn(given), expected);
}

INSTANTIATE_TEST_SUITE_P(Urls, Redaction,
                         testing::Values(Case{"postgres://user:secret@host/db", "postgres://user:***@host/db"},
                                         Case{"postgresql://user:secret@host:5432/db",
                                              "postgresql://user:***@host:5432/db"},
                                         Case{"postgres://user@host/db", "postgres://user@host/db"},
                                         Case{"postgres://host:5432/db", "postgres://host:5432/db"},
                                         Case{"postgres:///db?host=/run", "postgres:///db?host=/run"},
                                         Case{"postgres://u:@host/db", "postgres://u:***@host/db"},
                                         Case{"postgres://u:p%40ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p@ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p/ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p:q@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://h/db?user=u&password=secret&sslmode=require",
                                              "postgres://h/db?user=u&password=***&sslmode=require"},
                                         Case{"postgres://h/db?sslpassword=secret", "postgres://h/db?sslpassword=***"},
                                         Case{"mysql://root:secret@h/db", "mysql://root:***@h/db"}));

INSTANTIATE_TEST_SUITE_P(Keywords, Redaction,
                         testing::Values(Case{"host=h password=secret dbname=d", "host=h password=*** dbname=d"},
                                         Case{"password='two words' host=h", "password=*** host=h"},
                                         Case{"password='it\\'s' host=h", "password=*** host=h"},
                                         Case{"password = secret host=h", "password = *** host=h"},
                                         Case{"host=h user=u", "host=h user=u"},
                                         Case{"password=a\\ b host=h", "password=*** host=h"}));

INSTANTIATE_TEST_SUITE_P(Other, Redaction,
                         testing::Values(Case{"sqlite:/var/lib/a b.db", "sqlite:/var/lib/a b.db"}, Case{"", ""}));

TEST(RedactAddress, KeepsOnlySchemeAndHost) {
  EXPECT_EQ(redact_address("https://hooks.example.com/services/T0/B1/secret"), "https://hooks.example.com/***");
  EXPECT_EQ(redact_address("https://key:secret@sentry.example.com:9000/42"), "https://sentry.example.com:9000/***");
  EXPECT_EQ(redact_address("https://host?token=secret"), "https://host/***");
  EXPECT_EQ(redact_address("http://[::1]:80/secret"), "http://[::1]:80/***");
  EXPECT_EQ(redact_address("https://user:pass/wo?rd@host/hook"), "https://host/***");
  EXPECT_EQ(redact_address("secret"), "***");
}

}  // namespace
}  // namespace sluice
