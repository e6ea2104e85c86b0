// The store seam: what the runtime and the use cases need from a database, in domain verbs, cut by
// role. Two adapters stand behind it (postgres/, sqlite/); one contract suite runs over both.
//
// Thread-safety: every role may be called from many threads at once.
// Time: "now" is always the store's clock.
// Errors: Result<T>; Error::retry answers "may I retry?".
#pragma once

#include <string>

#include "store/administering.hpp"
#include "store/auditing.hpp"
#include "store/claiming.hpp"
#include "store/diagnosing.hpp"
#include "store/gauging.hpp"
#include "store/listening.hpp"
#include "store/maintaining.hpp"
#include "store/migrating.hpp"
#include "store/operating.hpp"
#include "store/patrolling.hpp"
#include "store/publishing.hpp"
#include "store/registering.hpp"
#include "store/switching.hpp"
#include "store/triaging.hpp"

namespace sluice::store {

/// What a store can do beyond the seam, so that nothing asks "which database is it?".
struct Capabilities {
  bool listen = false;  ///< LISTEN/NOTIFY wake-ups
  bool roles = false;   ///< database roles and grants
  bool partitions = false;
  bool embedded = false;  ///< lives in this process, a file
};

class Store : public Publishing,
              public Claiming,
              public Maintaining,
              public Patrolling,
              public Administering,
              public Triaging,
              public Operating,
              public Auditing,
              public Diagnosing,
              public Gauging,
              public Registering,
              public Switching,
              public Listening,
              public Migrating {
 public:
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  /// For messages: the file path, or the DSN without its password.
  [[nodiscard]] virtual std::string display_name() const = 0;
};

}  // namespace sluice::store
