// Carries requests to one receiver, many at a time, over connections that stay open. A thread of its own drives all
// of them; this is the only place of the sinks that sees libcurl.
//
// Every receiver has a courier, and no courier uses a connection of another: an address that one sink may connect to
// is not thereby open to the next.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "sink/http/address_guard.hpp"
#include "sink/http/exchange.hpp"

namespace sluice::sink {

struct CourierOptions {
  std::string url;
  std::vector<std::string> headers;  ///< complete lines that go with every request
  Duration connect_timeout{};
  Duration timeout{};   ///< for everything
  int concurrency = 1;  ///< requests at the same time
  AddressGuard guard;
};

/// Called on the courier's thread.
struct CourierHooks {
  /// False: pass this one over.
  std::function<bool(Exchange&)> may_begin;
  std::function<void(Exchange&)> ended;
};

class Courier {
 public:
  Courier(CourierOptions options, CourierHooks hooks);
  /// Nobody may be inside run().
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  /// Returns when all of them are over. A stop ends those under way and lets the others not begin. Any number of
  /// threads may be in here; they share the concurrency, first come, first served.
  void run(std::span<Exchange> exchanges, const std::stop_token& stop);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sluice::sink
