// What a handler threw, as a failure that core can classify.
#pragma once

#include <exception>

#include <sluice/handler.hpp>
#include "core/settle.hpp"

namespace sluice::runtime {

/// TerminalError and PayloadError are terminal, SqlError brings its SQLSTATE, std::system_error its
/// connection errors and timeouts; any other exception is filed under the last part of its type's name.
Failure failure_of(const std::exception_ptr& thrown);

Outcome outcome_of(const Verdict& verdict);

}  // namespace sluice::runtime
