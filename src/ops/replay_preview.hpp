// What a replay would do to each event: which handlers would run, which have handled it already, and what
// stands in the way. A forecast: nothing is reserved and nothing is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/contracts.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// So many events are looked at one by one; a larger set is judged by these.
inline constexpr int kPreviewEvents = 500;

enum class ReplayVerdict {
  will_run,         ///< at least one handler runs
  already_handled,  ///< every subscribed handler has handled it: delivered without running any
  no_live_worker,   ///< it would wait: no live worker of the generation serves what is left to run
  nobody_subscribes,
  payload_invalid,  ///< the contract of its type refuses the payload
};
std::string_view name(ReplayVerdict verdict);

struct EventForecast {
  Uuid event_id;
  std::string event_type;
  ReplayVerdict verdict = ReplayVerdict::will_run;
  std::vector<std::string> will_run;
  std::vector<std::string> handled;  ///< these have handled it and do not run again
  std::string why;                   ///< of payload_invalid: the path and what is wrong
};

struct ReplayPreview {
  Generation generation = kFirstGeneration;
  std::int64_t examined = 0;
  std::map<ReplayVerdict, std::int64_t> verdicts;
  struct Handler {
    std::int64_t will_run = 0;
    std::int64_t handled = 0;
    bool live = false;  ///< a live worker of the generation serves it
  };
  std::map<std::string, Handler> handlers;
  std::vector<EventForecast> sample;  ///< the first of each verdict, a few
};

Result<ReplayPreview> preview_replay(store::Administering& store, const std::vector<store::EventRecord>& events,
                                     Generation generation, const ContractSet* contracts);
/// Of the first kPreviewEvents events of the frozen set.
Result<ReplayPreview> preview_operation(store::Administering& store, const store::OperationRecord& operation,
                                        const ContractSet* contracts);

/// `9 events will run, 1 event is already handled`
std::string in_words(const ReplayPreview& preview);

std::string to_json(const ReplayPreview& preview);

}  // namespace sluice::ops
