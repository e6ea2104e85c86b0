// Carries an operation out in the foreground, or watches the process that does, and shows how far it is.
#pragma once

#include "cli/session.hpp"
#include "ops/operations.hpp"

namespace sluice::cli {

/// `7 delivered, 1 failed again, 2 in flight, 90 remaining`
std::string progress_text(const store::OperationRecord& operation);
/// `canary, 12.5/s, about 3m left`; empty where nothing is known.
std::string pace_text(const store::OperationRecord& operation, Timestamp now);

/// Until it is over, or until Ctrl-C, which leaves it to others. Prints the record at the end; 0 when every
/// event was delivered (or changed), else 7; 130 after Ctrl-C. Arm the interruption before.
Result<Exit> follow_operation(Session& session, const Session::Opened& opened, const Uuid& id);

void print_operation(const Session& session, const store::OperationRecord& operation);

}  // namespace sluice::cli
