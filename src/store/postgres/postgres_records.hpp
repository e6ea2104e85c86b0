// From result rows to the records of the seam.
#pragma once

#include <string>

#include "store/administer.hpp"
#include "store/postgres/pq_values.hpp"
#include "store/store.hpp"

namespace sluice::store {

/// Of partition_state.sql and partition_list.sql.
PartitionLayout layout_of(const pq::Rows& state, const pq::Rows& partitions);

/// Appends the three parameters that say who asks.
pq::Params& add(pq::Params& params, const Actor& actor);
/// A jsonb column with the handlers still to run; none when it is null.
std::vector<HandlerProgress> progress_column(const pq::Rows& rows, int row, int column);

EventRecord event_record(const pq::Rows& rows, int row);      // columns of event_get.sql
AuditRecord audit_record(const pq::Rows& rows, int row);      // columns of audit_of.sql
AttemptRecord attempt_record(const pq::Rows& rows, int row);  // columns of attempts_of.sql
Deployment deployment_record(const pq::Rows& rows, int row);  // columns of deployment_list.sql

/// `{"event_type":"a.b","since":"…"}`: the members that are given.
std::string filter_json(const EventFilter& filter);

/// A jsonpath predicate that is true of a payload with all of these; empty without any.
std::string payload_condition(const std::vector<PayloadTerm>& terms);

/// Whether it names what a group of failures knows: type, source, target, class or fingerprint.
bool names_groups(const EventFilter& filter);

}  // namespace sluice::store
