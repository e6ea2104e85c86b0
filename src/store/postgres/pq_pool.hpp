// A bounded set of connections. A lease is one connection for one thread until it goes out of scope.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "store/postgres/pq.hpp"

namespace sluice::store::pq {

class Pool {
 public:
  Pool(ConnectOptions options, int max_connections) : options_(std::move(options)), max_connections_(max_connections) {}

  class Lease {
   public:
    Lease(Pool& pool, Connection connection) : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    Connection* operator->() { return &connection_; }
    Connection& operator*() { return connection_; }
    [[nodiscard]] pg_conn* native() const { return connection_.native(); }

   private:
    Pool* pool_;
    Connection connection_;
  };

  /// Waits while all connections are out; connects when one is needed.
  Result<Lease> lease();

  /// How many connections were opened so far. A crash of the server ends all of them, so what was learnt while the
  /// number is the same was learnt from a server that has forgotten nothing since.
  [[nodiscard]] std::uint64_t opened() const { return opened_.load(); }
  /// Nothing that was learnt up to now holds any more.
  void forget() { ++opened_; }

 private:
  void give_back(Connection connection);

  ConnectOptions options_;
  int max_connections_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Connection> idle_;
  int out_ = 0;
  std::atomic<std::uint64_t> opened_{0};
};

}  // namespace sluice::store::pq
