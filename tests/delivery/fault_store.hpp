// The stores over which the fault tests run, with a table for the effects.
#pragma once

#include <memory>
#include <string>

#include "store/store.hpp"

namespace sluice::test {

class FaultStore {
 public:
  virtual ~FaultStore() = default;
  /// As fault_worker takes it.
  [[nodiscard]] virtual std::string address() const = 0;
  virtual store::Store& store() = 0;
  /// One number out of the database.
  virtual std::int64_t number(const std::string& sql) = 0;
};

std::unique_ptr<FaultStore> make_fault_store(const std::string& kind);  ///< postgres or sqlite

}  // namespace sluice::test
