// SIGINT, SIGTERM and SIGHUP as something to wait for.
#pragma once

#include "cli/adapters.hpp"

namespace sluice::cli {

/// Arm it before threads are started: they inherit the blocked signals, so that only the waiting
/// thread receives one. After the first signal the default action is back, so that a second one
/// ends a stop that takes too long.
class PosixInterruption final : public Interruption {
 public:
  void arm() override;
  bool wait_for(Duration duration) override;
  void arm_reload() override;
  Asked wait_for_any(Duration duration) override;

 private:
  void take_stop();
  bool stopped_ = false;
};

}  // namespace sluice::cli
