#include "runtime/history.hpp"

namespace sluice::runtime {

Result<void> HistoryLog::step() {
  const std::vector<HistoryRow> rows = history_.take();
  auto written = store_.record_history(rows);
  if (!written && written.error().retry != Retry::in_doubt) history_.put_back(rows);
  return written;
}

}  // namespace sluice::runtime
