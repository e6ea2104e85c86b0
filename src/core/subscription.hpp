// Who wants which events. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>

namespace sluice {

/// What routes an event.
struct Route {
  std::string_view event_type;
  std::optional<std::string_view> target;  ///< none: a broadcast
  std::string_view channel;
};

/// A set of events: those that match every part.
struct Interest {
  std::string event_type = "*";        ///< exact, a prefix followed by `*`, or `*`
  std::optional<std::string> context;  ///< broadcasts and events for this target; none: any target
  std::optional<std::string> channel;  ///< none: any channel

  [[nodiscard]] bool matches(const Route& route) const;
  auto operator<=>(const Interest&) const = default;  // NOLINT(modernize-use-nullptr): a defaulted comparison has none
};

/// A handler's standing order.
struct Subscription {
  std::string handler_name;                   ///< `scope.name`, unique
  std::vector<std::string> event_types{"*"};  ///< as Interest::event_type; any of them
  std::optional<std::string> context;         ///< as Interest::context
  std::optional<std::string> channel;         ///< as Interest::channel
  bool operator==(const Subscription&) const = default;

  [[nodiscard]] bool matches(const Route& route) const;
  [[nodiscard]] std::vector<Interest> interests() const;
  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

/// `worlds` of `worlds.scan_indexer`.
std::string_view scope_of(std::string_view handler_name);

}  // namespace sluice
