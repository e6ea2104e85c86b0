#include <algorithm>
#include <array>
#include <utility>

#include "config/declare.hpp"
#include "core/generation.hpp"
#include "core/subscription.hpp"

namespace sluice::config {
namespace {

constexpr std::array<std::string_view, 2> kPolicies{"standard", "inbox"};
constexpr std::array<std::string_view, 2> kJitters{"none", "full"};
constexpr Bounds<int> kAttempts{1, 1'000};
constexpr Bounds<int> kConcurrency{1, 1'000};
constexpr Bounds<double> kMultipliers{1, 1'000};
constexpr Bounds<double> kRates{0.001, 1'000'000};

Result<RetryPolicy> read_policy(TableReader table, RetryPolicy policy) {
  policy.max_attempts = table.integer("attempts", kAttempts).value_or(policy.max_attempts);
  policy.base = table.duration("base").value_or(policy.base);
  policy.multiplier = table.number("multiplier", kMultipliers).value_or(policy.multiplier);
  policy.cap = table.duration("cap").value_or(policy.cap);
  if (const auto jitter = table.choice("jitter", kJitters)) policy.jitter = *jitter == 0 ? Jitter::none : Jitter::full;
  if (policy.cap < policy.base) {
    table.refuse(table.has("cap") ? "cap" : "base",
                 "leaves cap (" + to_text(policy.cap) + ") below base (" + to_text(policy.base) + "); set both");
  }
  if (auto read = table.finish(); !read) return std::move(read).error();
  return policy;
}

void read_retry(TableReader& reader, const DeclareContext& context, SubscriptionConfig& subscription) {
  subscription.retry = context.standard_retry;
  const FileValue* given = reader.value("retry");
  if (given == nullptr) return;
  subscription.retry_given = true;
  if (given->kind == FileValue::Kind::table) {
    auto policy = read_policy({reader.name_of("retry"), given->where, given->members}, context.standard_retry);
    if (!policy) return reader.refuse(std::move(policy).error());
    subscription.retry = *std::move(policy);
    return;
  }
  if (const auto word = reader.choice("retry", kPolicies); word && *word == 1) subscription.retry = context.inbox_retry;
}

// `[subscriptions.billing.mailer]` is a table in a table.
Error bad_name(const FileTable& table) {
  const bool nested = !table.members.empty() && table.members.front().value.kind == FileValue::Kind::table;
  const std::string name = nested ? table.name + '.' + table.members.front().key : "scope.name";
  return invalid(table.path(), table.where + ": " + table.path() +
                                   " is not the name of a handler; write [subscriptions.\"" + name + "\"]");
}

void check_patterns(TableReader& reader, const SubscriptionConfig& subscription) {
  for (const std::string& pattern : subscription.event_types) {
    const Subscription one{subscription.handler_name, {pattern}, std::nullopt, std::nullopt};
    if (one.validate()) continue;
    reader.refuse("events", "must hold event types, prefixes that end in * or \"*\"; `" + pattern + "` is neither");
  }
}

}  // namespace

Result<Declared<SubscriptionConfig>> declare_subscription(const FileTable& table, const DeclareContext& context) {
  if (!check_handler_name(table.name)) return bad_name(table);
  TableReader reader{table};
  SubscriptionConfig subscription;
  subscription.handler_name = table.name;
  subscription.where = table.where;
  if (auto events = reader.texts("events"); !events.empty()) subscription.event_types = std::move(events);
  check_patterns(reader, subscription);
  subscription.target = reader.text("target");
  if (subscription.target && !check_context(*subscription.target, "target")) {
    reader.refuse("target", "must be a context: lower-case letters, digits and '_'");
  }
  subscription.sink = reader.text("sink").value_or("");
  if (!reader.has("sink")) reader.refuse("sink", "is missing; name a sink of this file, or \"log\"");
  read_retry(reader, context, subscription);
  subscription.concurrency = reader.integer("concurrency", kConcurrency).value_or(0);
  subscription.rate = reader.number("rate", kRates).value_or(0);
  subscription.timeout = reader.duration("timeout").value_or(Duration::zero());
  if (auto read = reader.finish(); !read) return std::move(read).error();
  return Declared<SubscriptionConfig>{std::move(subscription), std::nullopt};
}

}  // namespace sluice::config
