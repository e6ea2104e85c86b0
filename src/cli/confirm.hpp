// Asking before a bulk change.
#pragma once

#include <cstdint>
#include <string>

#include "cli/session.hpp"

namespace sluice::cli {

/// Refuses, naming --yes, where a later question could not be answered; a dry run asks none.
Result<void> check_answerable(const Session& session, const std::string& purpose);

/// True with --yes, else what the person at the terminal answers. Where nobody can be asked, the error
/// names --yes.
Result<bool> confirm(const Session& session, const std::string& question);

/// The same for a change of `count` things: more than a hundred are confirmed by typing the number.
Result<bool> confirm_many(const Session& session, const std::string& question, std::int64_t count);

}  // namespace sluice::cli
