// The store seam, listening: how a process hears that something was published. Hearing is about
// latency only: nothing is lost by an ear that hears nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "store/administering.hpp"

namespace sluice::store {

/// When a publish rings.
enum class DoorbellMode {
  always,     ///< at every insert
  when_idle,  ///< only while every worker of the channel sleeps
};
constexpr std::string_view name(DoorbellMode mode) { return mode == DoorbellMode::always ? "always" : "when-idle"; }

/// What came out of a wait.
enum class Heard {
  nothing,  ///< the time passed, or interrupt() was called
  ring,     ///< something may be claimable: look
  echo,     ///< a probe came back
};

/// One process's ear: a connection of its own, on which nothing else runs.
///
/// Thread-safety: wait() and probe() from one thread; attend() and interrupt() from any.
class Ear {
 public:
  virtual ~Ear() = default;

  /// Waits until something is heard or `at_most` has passed. An error means that the ear is lost: drop
  /// it and listen anew.
  virtual Result<Heard> wait(Duration at_most) = 0;

  /// The events that the last wait() told of, where the store says which; empty: it may be about any.
  [[nodiscard]] virtual std::span<const Uuid> events() const { return {}; }

  /// Sends a note to itself by another way; a later wait() gives `echo`, unless this ear is deaf.
  virtual Result<void> probe() = 0;

  /// Whether this process has work. Where only sleepers are rung, an idle process goes to sleep within
  /// wait(), which then gives `ring` once more, so that the workers look before it is relied upon.
  virtual void attend(bool busy) = 0;

  /// Makes a wait() return soon.
  virtual void interrupt() = 0;

  /// There is more work here than this process can do: wakes the others that sleep.
  virtual Result<void> wake_others() = 0;

  /// Whether something stands between this ear and the database that shares connections, so that
  /// being deaf has a known reason. Empty: nothing is known.
  [[nodiscard]] virtual std::string obstacle() const = 0;
};

class Listening {
 public:
  virtual ~Listening() = default;

  /// Opens an ear on these channels.
  virtual Result<std::unique_ptr<Ear>> listen(const std::vector<std::string>& channels) = 0;

  virtual Result<DoorbellMode> doorbell() = 0;
  /// Takes effect for publishes that begin after it; audited. Only where capabilities().listen.
  virtual Result<void> set_doorbell(DoorbellMode mode, const Actor& actor) = 0;
};

}  // namespace sluice::store
