#include "ops/webhook_inbox.hpp"

#include <gtest/gtest.h>

#include "core/generation.hpp"

namespace sluice::ops {
namespace {

using config::HookConfig;

HookConfig an_inbox_hook() {
  HookConfig hook;
  hook.source = "github";
  hook.target = "builds";
  return hook;
}

TEST(WebhookInbox, ADeliveryIsAnEventOfTheSource) {
  const auto request = publish_request(an_inbox_hook(), {"d-1", "pull_request"}, R"({"n" : 1.10})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->event_type, "github.pull_request");
  EXPECT_EQ(request->source, "github");
  EXPECT_EQ(request->target, "builds");
  EXPECT_EQ(request->payload, R"({"n" : 1.10})");
  EXPECT_EQ(request->idempotency_key, "github d-1");
}

TEST(WebhookInbox, TheSameDeliveryHasTheSameIdWhateverItSays) {
  const auto first = publish_request(an_inbox_hook(), {"d-1", "push"}, R"({"n":1})");
  const auto again = publish_request(an_inbox_hook(), {"d-1", "push"}, R"({"n":2})");
  const auto other = publish_request(an_inbox_hook(), {"d-2", "push"}, R"({"n":1})");
  HookConfig elsewhere = an_inbox_hook();
  elsewhere.source = "gitlab";
  EXPECT_EQ(first->id, again->id);
  EXPECT_NE(first->id, other->id);
  EXPECT_NE(first->id, publish_request(elsewhere, {"d-1", "push"}, R"({"n":1})")->id);
}

TEST(WebhookInbox, WhatIsNoObjectIsWrapped) {
  EXPECT_EQ(publish_request(an_inbox_hook(), {"d", ""}, "[1,2]")->payload, R"({"body":[1,2]})");
  EXPECT_EQ(publish_request(an_inbox_hook(), {"d", ""}, R"("text")")->payload, R"({"body":"text"})");
  const auto bad = publish_request(an_inbox_hook(), {"d", ""}, "{");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().field, "body");
}

TEST(WebhookInbox, TheTypeIsValidWhateverTheProviderCallsIt) {
  HookConfig hook = an_inbox_hook();
  EXPECT_EQ(webhook_event_type(hook, "Invoice.Paid"), "github.invoice.paid");
  EXPECT_EQ(webhook_event_type(hook, "check run/v2"), "github.check_run_v2");
  EXPECT_EQ(webhook_event_type(hook, ""), "github.received");
  EXPECT_EQ(webhook_event_type(hook, ".a..b."), "github.a.b");
  for (const std::string event : {"", "...", "\xFF\x00", "7up", "a b", "-"}) {
    EXPECT_TRUE(check_event_type(webhook_event_type(hook, event))) << event;
  }
  EXPECT_TRUE(check_event_type(webhook_event_type(hook, std::string(500, 'x'))));
  hook.event_type = "inbox.{event}.from_{source}";
  EXPECT_EQ(webhook_event_type(hook, "push"), "inbox.push.from_github");
}

}  // namespace
}  // namespace sluice::ops
