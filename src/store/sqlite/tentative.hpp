// Work within a transaction that can be taken back alone, while the transaction goes on.
#pragma once

#include <utility>

#include "core/try.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

/// What `work()` does stays when it succeeds and `keep(value)` holds; otherwise nothing of it does.
template <class Work, class Keep>
auto tentatively(Connection& connection, Work work, Keep keep) -> decltype(work()) {
  constexpr sql::Query kMark{"tentative_mark", "savepoint sluice_tentative"};
  constexpr sql::Query kUndo{"tentative_undo", "rollback to sluice_tentative"};
  constexpr sql::Query kForget{"tentative_forget", "release sluice_tentative"};
  SLUICE_CHECK(connection.run(kMark, {}));
  auto result = work();
  // After a failure SQLite may have undone the whole transaction by itself, and the mark with it.
  if (!result || !keep(*result)) {
    if (auto undone = connection.run(kUndo, {}); result && !undone) return std::move(undone).error();
  }
  if (auto forgotten = connection.run(kForget, {}); result && !forgotten) return std::move(forgotten).error();
  return result;
}

}  // namespace sluice::store::sqlite
