// The tables that the documentation shows are tables that the configuration takes.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "config/config_file.hpp"
#include "config/declare.hpp"

namespace sluice::config {
namespace {

class DocumentedTables : public testing::TestWithParam<const char*> {};

TEST_P(DocumentedTables, AreValid) {
  std::ifstream page{std::string{SLUICE_SOURCE_DIR "/docs/"} + GetParam()};
  const std::string text{std::istreambuf_iterator<char>{page}, {}};
  const std::regex block{"```toml[^\n]*\n([^`]*\\[[a-z]+\\.[^`]*)```"};
  const Environment environment{{"GITHUB_WEBHOOK_SECRET", "0123456789"},
                                {"SHOP_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}};
  int checked = 0;
  for (std::sregex_iterator at{text.begin(), text.end(), block}, end; at != end; ++at, ++checked) {
    const auto file = parse_file((*at)[1].str(), "example.toml");
    ASSERT_TRUE(file) << file.error().message;
    const auto declared = declare(file->tables, {environment, RetryPolicy::standard(), RetryPolicy::inbox(), true});
    ASSERT_TRUE(declared) << declared.error().message;
    EXPECT_FALSE(declared->missing) << declared->missing->message;
    EXPECT_FALSE(declared->subscriptions.empty());
  }
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(Pages, DocumentedTables,
                         testing::Values("reference/configuration.md", "how-to/deliver-webhooks.md", "../README.md"));

}  // namespace
}  // namespace sluice::config
