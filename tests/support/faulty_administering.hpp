// An embedded store whose calls fail, for use cases: they know no claiming, and nor does this header. See
// faulty_store.hpp.
#pragma once

#include <memory>
#include <string>

#include <sluice/result.hpp>
#include "store/administer.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::test {

enum class Fault {
  before,  ///< nothing was done, and the error says so
  after,   ///< it was done, and the answer was lost: in doubt
};

class FaultyStore;

class FaultyAdministering {
 public:
  /// The store outlives it.
  explicit FaultyAdministering(EmbeddedStore& inner);
  ~FaultyAdministering();
  FaultyAdministering(const FaultyAdministering&) = delete;
  FaultyAdministering& operator=(const FaultyAdministering&) = delete;

  /// As those of FaultyStore.
  void fail_call(int n, Fault fault, int count = 1);
  void fail_verb(const std::string& verb, Error error);
  [[nodiscard]] int calls() const;

  operator store::Administering&();

 private:
  std::unique_ptr<FaultyStore> store_;
};

}  // namespace sluice::test
