// The store seam: what the runtime and the use cases need from a database, in domain verbs, cut by
// role. Two adapters stand behind it (postgres/, sqlite/); one contract suite runs over both.
//
//   publish.hpp     new events in
//   claim.hpp       events out, decisions back: for workers
//   maintain.hpp    claims that ran out, retention, the patrol
//   observe.hpp     what can be asked
//   administer.hpp  what people do, through any surface; includes the three above but claiming
//
// Take the role, not the store: whoever includes this file is compiled again with each of them.
//
// Thread-safety: every role may be called from many threads at once.
// Time: "now" is always the store's clock.
// Errors: Result<T>; Error::retry answers "may I retry?".
#pragma once

#include "store/administer.hpp"
#include "store/claim.hpp"

namespace sluice::store {

class Store : public Claiming, public Administering {};

}  // namespace sluice::store
