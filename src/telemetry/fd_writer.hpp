// Lines to a file descriptor.
#pragma once

#include "telemetry/log.hpp"

namespace sluice::telemetry {

/// Writes each line with as few calls as the kernel allows. A descriptor that cannot take it (closed
/// pipe, full disk) loses the line: logging never stops delivery. Does not own the descriptor.
LogWriter write_to_fd(int fd);

/// The human form for a terminal, JSON for everything else.
LogFormat format_for_fd(int fd);

}  // namespace sluice::telemetry
