#include <gtest/gtest.h>

#include "config/declare_fixture.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Declaring, AStandardHookDecodesItsSecrets) {
  environment["OLD"] = std::string{kKey};
  const Declarations all = declared("[hooks.shop]\nsecret = \"" + std::string{kKey} +
                                    "\"\nsecret_env = \"OLD\"\ntarget = \"billing\"\ntolerance = \"1m\"\n");
  ASSERT_EQ(all.hooks.size(), 1U);
  const HookConfig& hook = all.hooks[0];
  EXPECT_EQ(hook.source, "shop");
  EXPECT_EQ(hook.kind, HookConfig::Kind::standard);
  ASSERT_EQ(hook.secrets.size(), 2U);
  EXPECT_EQ(hook.secrets[0].reveal().size(), 24U);
  EXPECT_EQ(hook.secrets[1].reveal(), hook.secrets[0].reveal());
  EXPECT_EQ(hook.target, "billing");
  EXPECT_EQ(hook.tolerance, std::chrono::minutes{1});
}

TEST_F(Declaring, AGenericHookNamesItsHeaders) {
  const Declarations all = declared(
      "[hooks.pay]\nkind = \"hmac\"\nsecret = \"0123456789\"\nsignature_header = \"X-Signature\"\n"
      "signature_prefix = \"sha256=\"\nsignature_encoding = \"base64\"\nid_header = \"X-Id\"\n"
      "event_header = \"X-Event\"\ntimestamp_header = \"X-Time\"\nevent_type = \"pay.{event}\"\n");
  const HookConfig& hook = all.hooks.at(0);
  EXPECT_EQ(hook.kind, HookConfig::Kind::hmac);
  EXPECT_EQ(hook.secrets.at(0).reveal(), "0123456789");
  EXPECT_EQ(hook.signature_header, "x-signature");
  EXPECT_EQ(hook.signature_prefix, "sha256=");
  EXPECT_TRUE(hook.signature_base64);
  EXPECT_EQ(hook.id_header, "x-id");
  EXPECT_EQ(hook.event_header, "x-event");
  EXPECT_EQ(hook.timestamp_header, "x-time");
  EXPECT_EQ(hook.event_type, "pay.{event}");
}

TEST_F(Declaring, AHookWithoutASecretIsRefused) {
  EXPECT_THAT(refusal("[hooks.github]\nkind = \"github\"\n"),
              AllOf(StartsWith("f.toml:1:8: hooks.github.secret_env is missing"), HasSubstr("anybody")));
  EXPECT_THAT(refusal("[hooks.github]\nkind = \"github\"\nsecret = \"short\"\n"), HasSubstr("at least 8"));
}

TEST_F(Declaring, AHookIsCheckedWhereItStands) {
  const std::string good = "kind = \"github\"\nsecret = \"0123456789\"\n";
  EXPECT_THAT(refusal("[hooks.Git-Hub]\n" + good), StartsWith("f.toml:1:8: hooks.Git-Hub is no source"));
  EXPECT_THAT(refusal("[hooks.g]\nkind = \"gitlab\"\n"), HasSubstr("standard, github, hmac"));
  EXPECT_THAT(refusal("[hooks.g]\n" + good + "event_type = \"{event} happened\"\n"),
              StartsWith("f.toml:4:1: hooks.g.event_type"));
  EXPECT_THAT(refusal("[hooks.g]\n" + good + "signature_header = \"X\"\n"),
              StartsWith("f.toml:4:1: unknown key `hooks.g.signature_header`"));
  EXPECT_THAT(refusal("[hooks.g]\nkind = \"hmac\"\nsecret = \"0123456789\"\n"),
              HasSubstr("signature_header is missing"));
  EXPECT_THAT(refusal("[hooks.g]\n" + good + "target = \"No Such\"\n"), StartsWith("f.toml:4:1: hooks.g.target"));
}

}  // namespace

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
