// From result rows to the records of the seam.
#pragma once

#include "store/postgres/pq_values.hpp"
#include "store/store.hpp"

namespace sluice::store {

EventRecord event_record(const pq::Rows& rows, int row);      // columns of event_get.sql
AuditRecord audit_record(const pq::Rows& rows, int row);      // columns of audit_of.sql
Deployment deployment_record(const pq::Rows& rows, int row);  // columns of deployment_list.sql

}  // namespace sluice::store
