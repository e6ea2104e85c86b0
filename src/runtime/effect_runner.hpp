// EffectRunner: runs a handler whose effect must happen exactly once. Effect, dedup row and, where nothing
// else is left to run, the settle are one transaction.
//
// Several events share a transaction, so that a commit is paid once; each handler call has a mark to be
// undone to. Slow handlers get shorter transactions.
//
// Thread-safety: none; belongs to one worker.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/run_handler.hpp"
#include "runtime/settler.hpp"
#include "runtime/work.hpp"

namespace sluice::runtime {

struct EffectRunnerOptions {
  std::function<double()> uniform01;
  TestPoint at{};
  Duration longest_idle = std::chrono::seconds{300};  ///< as long as a claim lasts
  AttemptRules attempts{};
  Duration longest_transaction = std::chrono::milliseconds{50};  ///< no further call is begun in it after this
  int tries = 3;             ///< of a transaction that could not commit, before its events are given back
  Tracer* tracer = nullptr;  ///< none: nothing is traced
};

class EffectRunner {
 public:
  /// The references outlive the runner.
  EffectRunner(store::Claiming& store, RegistryView& registry, const HandlerSet& handlers, EffectRunnerOptions options);

  struct Done {
    std::vector<Work*> settled;  ///< settled within the transaction
    store::SettleReport report;
    bool in_doubt = false;  ///< a commit's answer was lost on the way
  };

  /// Runs the handler on each work. Those for which `last` is true are settled in the transaction; the
  /// others only have their run noted. After an error the works it did not come to are as they were.
  Result<Done> run(const RegisteredHandler& handler, std::span<Work* const> works, const RunContext& context,
                   const std::function<bool(const Work&)>& last);

 private:
  struct Pass;
  Result<std::size_t> one_transaction(Pass& pass, std::span<Work* const> works);
  Result<std::size_t> run_each(Pass& pass, std::span<Work* const> works);
  Result<std::size_t> run_batch(Pass& pass, std::span<Work* const> works);
  Result<void> settle(Pass& pass);

  store::Claiming& store_;
  RegistryView& registry_;
  const HandlerSet& handlers_;
  EffectRunnerOptions options_;
};

}  // namespace sluice::runtime
