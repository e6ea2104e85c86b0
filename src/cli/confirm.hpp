// Asking before a bulk change.
#pragma once

#include <string>

#include "cli/session.hpp"

namespace sluice::cli {

/// True with --yes, else what the person at the terminal answers. Where nobody can be asked, the error
/// names --yes.
Result<bool> confirm(const Session& session, const std::string& question);

}  // namespace sluice::cli
