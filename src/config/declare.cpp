#include "config/declare.hpp"

#include <algorithm>
#include <utility>

#include "config/hook_events.hpp"
#include "config/nearest.hpp"

namespace sluice::config {
namespace {

constexpr std::string_view kLog = "log";

template <class T>
Result<void> keep(Result<Declared<T>> declared, std::vector<T>& into, std::optional<Error>& missing) {
  if (!declared) return std::move(declared).error();
  if (!missing) missing = std::move(declared->missing);
  into.push_back(std::move(declared->value));
  return {};
}

Result<void> declare_one(const FileTable& table, const DeclareContext& context, Declarations& into) {
  if (table.section == "tokens") return keep(declare_token(table, context), into.tokens, into.missing);
  if (table.section == "hooks") return keep(declare_hook(table, context), into.hooks, into.missing);
  if (table.section == "sinks") return keep(declare_sink(table, context), into.sinks, into.missing);
  return keep(declare_subscription(table, context), into.subscriptions, into.missing);
}

Result<void> check_sink_name(const SubscriptionConfig& subscription, const std::vector<SinkConfig>& sinks) {
  std::vector<std::string_view> names{kLog};
  for (const SinkConfig& sink : sinks) names.emplace_back(sink.name);
  if (std::find(names.begin(), names.end(), subscription.sink) != names.end()) return {};
  const std::string field = "subscriptions.\"" + subscription.handler_name + "\".sink";
  Error error = invalid(
      field, subscription.where + ": " + field + " names `" + subscription.sink + "`, which is no sink of this file");
  if (const auto near = nearest(subscription.sink, names)) {
    error.message += "; did you mean `" + std::string{*near} + "`?";
  }
  error.hint = "declare it as [sinks." + subscription.sink + "], or name `log`";
  return error;
}

// One token, two names: the audit could not tell who it was.
Result<void> check_tokens_differ(const std::vector<TokenConfig>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto same =
        std::find_if(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const auto& other) { return !other.sha256.empty() && other.sha256 == tokens[i].sha256; });
    if (same == tokens.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    const std::string field = "tokens." + tokens[i].name;
    return invalid(field, tokens[i].where + ": " + field + " has the token of tokens." + same->name +
                              "; give each caller a token of its own");
  }
  return {};
}

}  // namespace

Result<Declarations> declare(std::span<const FileTable> tables, const DeclareContext& context) {
  Declarations declarations;
  for (const FileTable& table : tables) {
    if (auto declared = declare_one(table, context, declarations); !declared) return std::move(declared).error();
  }
  for (const SubscriptionConfig& subscription : declarations.subscriptions) {
    if (auto known = check_sink_name(subscription, declarations.sinks); !known) return std::move(known).error();
  }
  for (SubscriptionConfig& subscription : declarations.subscriptions) {
    const bool from_hooks = only_from_hooks(subscription.event_types, declarations.hooks);
    if (from_hooks && !subscription.retry_given) subscription.retry = context.inbox_retry;
  }
  if (auto differ = check_tokens_differ(declarations.tokens); !differ) return std::move(differ).error();
  return declarations;
}

}  // namespace sluice::config
