// From the tables of the file to what they declare, checked.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "config/config_file.hpp"
#include "config/declared.hpp"
#include "config/environment.hpp"
#include "config/table_reader.hpp"

namespace sluice::config {

/// What the single keys say that the tables build on.
struct DeclareContext {
  const Environment& environment;
  RetryPolicy standard_retry;
  RetryPolicy inbox_retry;
  bool exec_enabled = false;
};

/// The first error has the position of the table or the key.
Result<Declarations> declare(std::span<const FileTable> tables, const DeclareContext& context);

/// A declared thing, and the variable that it lacks.
template <class T>
struct Declared {
  T value;
  std::optional<Error> missing;
};

Result<Declared<TokenConfig>> declare_token(const FileTable& table, const DeclareContext& context);
Result<Declared<HookConfig>> declare_hook(const FileTable& table, const DeclareContext& context);
Result<Declared<SinkConfig>> declare_sink(const FileTable& table, const DeclareContext& context);
Result<Declared<SubscriptionConfig>> declare_subscription(const FileTable& table, const DeclareContext& context);

// The keys of a sink on a message broker, and those it shares with other sinks.

/// `kind` has been read: nats or redis.
void read_broker(TableReader& reader, SecretReader& secrets, SinkConfig& sink);

void read_breaker(TableReader& reader, SinkConfig& sink);

}  // namespace sluice::config
