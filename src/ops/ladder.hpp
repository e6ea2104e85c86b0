// `sluice ladder status`: how near the store is to its limits, and which step is due.
#pragma once

#include <string>

#include "core/ladder.hpp"
#include "store/observe.hpp"

namespace sluice::ops {

struct LadderReport {
  std::string store;
  Timestamp now{};
  LadderStage stage;
  LadderVerdict verdict;
};

Result<LadderReport> report_ladder(store::Observing& store);

/// Where the store stands, from a diagnosis of it and its relay's switch.
LadderStage stage_of(const store::Diagnosis& diagnosis, const store::Capabilities& capabilities,
                     const store::RelaySwitch& relay);
/// `embedded`, `one_table`, `partitioned`, `relayed`: the highest step that was taken.
std::string_view name(const LadderStage& stage);

/// For people: `5.2M rows`, `0.31 s`, `12 %`; `-` where nothing was measured.
std::string value_text(const LadderTrigger& trigger);
std::string threshold_text(const LadderTrigger& trigger);

std::string to_json(const LadderReport& report);

}  // namespace sluice::ops
