// What spans tables, and how they reach the configuration.
#include <filesystem>
#include <fstream>

#include "config/config.hpp"
#include "config/declare_fixture.hpp"
#include "config/gather.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Declaring, TheFirstErrorOfTheFileIsTold) {
  EXPECT_THAT(refusal("[sinks.b]\nkind = \"x\"\n[sinks.a]\nkind = \"y\"\n"), StartsWith("f.toml:2:1: sinks.b.kind"));
}

TEST_F(Declaring, ASectionHoldsNamedTables) {
  EXPECT_THAT(refusal("sinks = 5\n"), AllOf(StartsWith("f.toml:1:1"), HasSubstr("[sinks.NAME]")));
  EXPECT_THAT(refusal("[sinks]\nkind = \"log\"\n"), AllOf(StartsWith("f.toml:2:1"), HasSubstr("[sinks.NAME]")));
}

TEST_F(Declaring, ANameCannotBeDeclaredTwice) {
  EXPECT_THAT(refusal("[sinks.a]\nkind = \"log\"\n[sinks.a]\nkind = \"log\"\n"), StartsWith("f.toml:3:"));
}

TEST_F(Declaring, ReachesTheConfigurationWithItsRetryKeys) {
  const auto path = std::filesystem::path{testing::TempDir()} / "declare_test.toml";
  std::ofstream{path}
      << "retry.attempts = 7\nexec.enabled = true\n[sinks.run]\nkind = \"exec\"\ncommand = \"/bin/true\"\n"
         "[subscriptions.\"a.b\"]\nsink = \"run\"\n";
  Sources sources;
  sources.file = path;
  const auto config = load(sources);
  std::filesystem::remove(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->declared.sinks.size(), 1U);
  EXPECT_EQ(config->declared.subscriptions.at(0).retry.max_attempts, 7);
  EXPECT_EQ(config->http.listen->display(), "127.0.0.1:7311");
}

}  // namespace
}  // namespace sluice::config
