#include "store/postgres/pq_pool.hpp"

namespace sluice::store::pq {

Result<Pool::Lease> Pool::lease() {
  std::unique_lock lock{mutex_};
  returned_.wait(lock, [&] { return out_ < max_connections_; });
  ++out_;
  while (!idle_.empty()) {
    Connection connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection.usable()) return Lease{*this, std::move(connection)};
  }
  lock.unlock();
  // Counted before anything can be done with it.
  ++opened_;
  Result<Connection> opened = Connection::open(options_);
  if (opened) return Lease{*this, *std::move(opened)};
  lock.lock();
  --out_;
  returned_.notify_one();
  return std::move(opened).error();
}

void Pool::give_back(Connection connection) {
  const std::scoped_lock lock{mutex_};
  --out_;
  if (connection.usable()) idle_.push_back(std::move(connection));
  returned_.notify_one();
}

Pool::Lease::~Lease() {
  if (pool_) pool_->give_back(std::move(connection_));
}

}  // namespace sluice::store::pq
