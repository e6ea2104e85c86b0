// The flags of a change that the audit keeps: who and why.
#pragma once

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace sluice::cli {

Option actor_flag();
Option reason_flag();
/// For changes that are refused without one.
Option required_reason_flag();

/// The refusal of a change without a reason; a dry run needs none.
Result<void> check_reason(const Session& session);

}  // namespace sluice::cli
