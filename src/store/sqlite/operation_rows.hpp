// Bulk operations as the store finds them, and the refusals that several roles share.
#pragma once

#include <string>
#include <string_view>

#include "store/operation_record.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

/// The columns of operation_get and operation_list.
OperationRecord read_operation(Row& row);

/// not_found when there is none.
Result<OperationRecord> find_operation(Connection& connection, const Uuid& id);

/// conflict: `operation <id> is finished: <rule>`.
Error wrong_state(const OperationRecord& operation, std::string_view rule);

/// conflict unless it is running and `executor` holds it; otherwise the operation.
Result<OperationRecord> held_operation(Connection& connection, const Uuid& id, const std::string& executor,
                                       Timestamp now);

/// Whether the events of its set have to be discarded ones.
bool takes_discarded(OperationKind kind);

}  // namespace sluice::store::sqlite
