// Carries operations out, step by step. Any number of processes may try: the store lets one of them act at a
// time, and a killed one is relieved when its lease ends.
#pragma once

#include <string>
#include <utility>

#include <sluice/tracer.hpp>
#include "store/administer.hpp"

namespace sluice::ops {

inline constexpr Duration kOperationLease = std::chrono::seconds{5};

class OperationRunner {
 public:
  /// `executor` is unique per process start. The store outlives the runner.
  OperationRunner(store::Administering& store, std::string executor, Duration lease = kOperationLease,
                  Tracer* tracer = nullptr)
      : store_(store), executor_(std::move(executor)), lease_(lease), tracer_(tracer) {}

  struct Stepped {
    store::OperationRecord operation;
    Duration rest{};     ///< before the next step
    bool acting = true;  ///< false: somebody else carries it out
  };
  /// One bounded step: looks what became of the events in flight, and acts, ends or waits as core says.
  Result<Stepped> step(const Uuid& id);

  /// The rest when nothing runs.
  static constexpr Duration kNothingToDo = std::chrono::seconds{2};
  /// One step of everything that runs, or has events in flight, and that nobody else carries out; how long to rest
  /// then.
  Result<Duration> round();

  /// Leaves everything to others at once; the last thing before a stop.
  Result<void> release_all();
  /// Leaves one to others at once.
  Result<void> release(const Uuid& id) { return store_.release_operation(id, executor_); }

 private:
  Result<Stepped> act(const store::OperationRecord& held);

  store::Administering& store_;
  std::string executor_;
  Duration lease_;
  Tracer* tracer_;  // none: nothing is traced
};

}  // namespace sluice::ops
