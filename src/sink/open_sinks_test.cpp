#include "sink/open_sinks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

using config::SinkConfig;

telemetry::Logger silent() {
  return telemetry::Logger{[](std::string_view) {}, {}};
}

config::Config declared() {
  config::Config all;
  auto& sinks = all.declared.sinks;
  sinks.reserve(2);
  SinkConfig& shop = sinks.emplace_back();
  shop.name = "shop";
  shop.kind = SinkConfig::Kind::http;
  shop.url = "https://user:hush@shop.example.com/in?token=hush";
  SinkConfig& run = sinks.emplace_back();
  run.name = "run";
  run.kind = SinkConfig::Kind::exec;
  run.command = {"/bin/true", "--password=hush"};
  return all;
}

TEST(OpenSinks, OpensWhatIsDeclaredAndTheLog) {
  const auto sinks = open_sinks(declared(), silent());
  ASSERT_TRUE(sinks) << sinks.error().message;
  EXPECT_EQ(sinks->size(), 3U);
  EXPECT_EQ(sinks->at("shop")->status().kind, "http");
  EXPECT_EQ(sinks->at("shop")->status().target, "https://shop.example.com/***");
  EXPECT_EQ(sinks->at("run")->status().target, "/bin/true");
  EXPECT_EQ(sinks->at("log")->status().kind, "log");
}

TEST(OpenSinks, TheLogsNameMayBeTaken) {
  config::Config all = declared();
  all.declared.sinks[1].name = "log";
  EXPECT_EQ(open_sinks(all, silent())->at("log")->status().kind, "exec");
}

TEST(OpenSinks, NothingOpensWithoutItsSecrets) {
  config::Config all = declared();
  all.declared.missing = invalid("sinks.shop.secret_env", "not set");
  EXPECT_FALSE(open_sinks(all, silent()));
}

}  // namespace
}  // namespace sluice::sink
