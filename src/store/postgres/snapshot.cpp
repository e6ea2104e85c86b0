#include "store/postgres/snapshot.hpp"

#include <chrono>
#include <string>

namespace sluice::store {

Snapshot::~Snapshot() {
  // Nothing was written; a connection that does not obey does not go back to the pool.
  if (open_) static_cast<void>(connection_.script("rollback", pq::Effect::read).has_value());
}

Result<void> Snapshot::begin(Duration longest_statement) {
  // Compiling would cost these statements more than it could save.
  std::string script = "begin isolation level repeatable read read only; set local jit = off";
  if (longest_statement > Duration::zero()) {
    const auto limit = std::to_string(std::chrono::ceil<std::chrono::milliseconds>(longest_statement).count());
    script += "; set local statement_timeout = " + limit + "; set local lock_timeout = " + limit;
  }
  open_ = true;
  return connection_.script(script, pq::Effect::read);
}

}  // namespace sluice::store
