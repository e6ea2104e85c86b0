// How a process hears that something was published. That is about latency only: nothing is lost where nothing is
// heard.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice::store {

/// When a publish notifies.
enum class DoorbellMode {
  always,     ///< at every insert
  when_idle,  ///< only while every worker of the channel is idle
};
constexpr std::string_view name(DoorbellMode mode) { return mode == DoorbellMode::always ? "always" : "when-idle"; }

/// What came out of a wait.
enum class Heard {
  nothing,       ///< the time passed, or interrupt() was called
  notification,  ///< something may be claimable
  echo,          ///< a probe came back
};

/// The listener connection of a process: one of its own, on which nothing else runs.
///
/// Thread-safety: wait() and probe() from one thread; attend() and interrupt() from any.
class ListenerConnection {
 public:
  virtual ~ListenerConnection() = default;

  /// Waits until something is heard or `at_most` has passed. An error means that the connection is lost:
  /// drop it and listen anew.
  virtual Result<Heard> wait(Duration at_most) = 0;

  /// The events that the last wait() told of, where the store says which; empty: it may be about any.
  [[nodiscard]] virtual std::span<const Uuid> events() const { return {}; }

  /// Sends a note to itself by another way; a later wait() gives `echo`, unless this connection is deaf.
  virtual Result<void> probe() = 0;

  /// Whether this process has work. Where only idle workers are notified, an idle process says so within
  /// wait(), which then gives `notification` once more, so that the workers claim before it is relied upon.
  virtual void attend(bool busy) = 0;

  /// Makes a wait() return soon.
  virtual void interrupt() = 0;

  /// There is more work here than this process can do: wakes the others that are idle.
  virtual Result<void> wake_others() = 0;

  /// Whether something stands between it and the database that shares connections, so that
  /// being deaf has a known reason. Empty: nothing is known.
  [[nodiscard]] virtual std::string obstacle() const = 0;
};

}  // namespace sluice::store
