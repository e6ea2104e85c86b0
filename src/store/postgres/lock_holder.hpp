// Who has core.outbox when somebody waits for it in vain.
#pragma once

#include "store/postgres/pq.hpp"

namespace sluice::store {

/// An error of kind timeout, a lock that was not to be had: who has it. Any other error as it is.
Error name_holder(pq::Connection& connection, Error error);

}  // namespace sluice::store
