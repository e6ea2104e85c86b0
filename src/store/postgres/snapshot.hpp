// A transaction that only reads: all its statements see the store as it was at one moment.
#pragma once

#include <type_traits>
#include <utility>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "core/try.hpp"
#include "store/postgres/pq_pool.hpp"

namespace sluice::store {

class Snapshot {
 public:
  explicit Snapshot(pq::Connection& connection) : connection_(connection) {}
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// A statement that takes longer than this is given up; zero: none is.
  Result<void> begin(Duration longest_statement);

 private:
  pq::Connection& connection_;
  bool open_ = false;
};

/// What `read` returns, given a connection on which all statements see the same moment.
template <class Read>
std::invoke_result_t<Read, pq::Connection&> in_snapshot(pq::Connection& connection, Duration longest_statement,
                                                        Read read) {
  for (bool again = false;; again = true) {
    Snapshot snapshot{connection};
    SLUICE_CHECK(snapshot.begin(longest_statement));
    auto seen = read(connection);
    // A prepared statement that a pooler has lost ends the transaction; the connection goes on without them.
    if (seen || again || !pq::is_pooled_away(seen.error())) return seen;
  }
}

template <class Read>
std::invoke_result_t<Read, pq::Connection&> in_snapshot(pq::Pool& pool, Duration longest_statement, Read read) {
  SLUICE_TRY(pq::Pool::Lease lease, pool.lease());
  return in_snapshot(*lease, longest_statement, std::move(read));
}

}  // namespace sluice::store
