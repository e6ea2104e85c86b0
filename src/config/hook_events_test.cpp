#include "config/hook_events.hpp"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

std::vector<HookConfig> hooks() {
  std::vector<HookConfig> hooks(2);
  hooks[0].source = "github";
  hooks[1].source = "pay";
  hooks[1].event_type = "payments.webhook";
  return hooks;
}

TEST(HookEvents, TheTypeIsMadeOfTheSourceAndTheEvent) {
  HookConfig hook = hooks()[0];
  EXPECT_EQ(event_type_of(hook, "push"), "github.push");
  hook.event_type = "inbox.{event}.from_{source}";
  EXPECT_EQ(event_type_of(hook, "push"), "inbox.push.from_github");
  EXPECT_EQ(event_type_of(hooks()[1], "push"), "payments.webhook");
}

TEST(HookEvents, ASubscriptionToHooksOnlyIsRecognised) {
  const auto only = [](const std::vector<std::string>& types) { return only_from_hooks(types, hooks()); };
  EXPECT_TRUE(only({"github.*"}));
  EXPECT_TRUE(only({"github.push", "payments.webhook"}));
  EXPECT_FALSE(only({"github.push", "invoice.paid"}));
  EXPECT_FALSE(only({"*"}));
  EXPECT_FALSE(only({"github*"}));
  EXPECT_FALSE(only({"payments.*"}));
  EXPECT_FALSE(only({}));
}

TEST(HookEvents, AHookThatMayGiveAnyTypeClaimsNone) {
  std::vector<HookConfig> any = hooks();
  any[0].event_type = "{event}";
  EXPECT_FALSE(only_from_hooks(std::vector<std::string>{"github.*"}, any));
}

}  // namespace
}  // namespace sluice::config
