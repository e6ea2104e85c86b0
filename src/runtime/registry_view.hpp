// RegistryView: what this process knows of the subscriptions of its generation, in all processes.
//
// Thread-safety: any number of threads.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include "store/observe.hpp"

namespace sluice::runtime {

/// One state of the registry; immutable.
struct RegistrySnapshot {
  store::RegistryVersion version = 0;
  std::vector<Subscription> subscriptions;
  std::set<std::string, std::less<>> served;  ///< handlers that a live worker hosts

  /// The names of the handlers that want the event.
  [[nodiscard]] std::vector<std::string> matching(const Route& route) const;
  [[nodiscard]] bool has_all(const std::vector<std::string>& handlers) const;
};

/// The same, remembered: the events of a batch are of few kinds. For one thread.
class RouteMemo {
 public:
  explicit RouteMemo(const RegistrySnapshot& registry) : registry_(registry) {}
  const std::vector<std::string>& matching(const Route& route);

 private:
  struct Known {
    std::string event_type;
    std::optional<std::string> target;
    std::string channel;
    std::vector<std::string> handlers;
  };
  const RegistrySnapshot& registry_;
  std::deque<Known> known_;  // the latest first; stays put while it grows
};

struct RegistryViewOptions {
  Generation generation = kFirstGeneration;
  Duration alive_within = std::chrono::seconds{30};  ///< a worker not seen for longer serves nothing
};

class RegistryView {
 public:
  /// The store outlives the view.
  RegistryView(store::Observing& store, RegistryViewOptions options);

  [[nodiscard]] std::shared_ptr<const RegistrySnapshot> current() const;
  Result<void> refresh();

 private:
  store::Observing& store_;
  RegistryViewOptions options_;
  std::mutex refreshing_;
  mutable std::mutex mutex_;  // guards the pointer
  std::shared_ptr<const RegistrySnapshot> current_ = std::make_shared<RegistrySnapshot>();
};

}  // namespace sluice::runtime
