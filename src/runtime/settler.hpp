// Settler: hands the decisions on a batch to the store, keeps them while the store is away, and logs
// what became of each event.
//
// Thread-safety: none; belongs to one worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/step_report.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

/// An event that was attempted, and what was decided.
struct Attempt {
  store::ClaimedEvent event;
  store::SettleItem decision;
  bool deduplicated = false;  ///< acknowledged without running the handler
  Duration took{};            ///< the delivery of the batch that it was in
};

struct SettlerOptions {
  std::string handler_name;
  int settle_attempts = 5;  ///< after this many failures the claims are left to the reaper
};

class Settler {
 public:
  Settler(store::Claiming& store, telemetry::Logger logger, SettlerOptions options);

  void add(Attempt attempt);

  /// Settles everything that was added, in one call. After an error that allows it the batch is
  /// kept for the next call; else it is dropped, and its claims run out.
  Result<StepReport> settle();

 private:
  void note_failure(const Error& error);
  StepReport account(const store::SettleReport& settled) const;
  void log(const Attempt& attempt, std::string_view result) const;
  void clear();

  store::Claiming& store_;
  telemetry::Logger logger_;
  SettlerOptions options_;
  std::vector<Attempt> attempts_;
  int failures_ = 0;
  bool in_doubt_ = false;
};

}  // namespace sluice::runtime
