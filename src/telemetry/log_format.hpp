// The two forms of a log line. Pure.
#pragma once

#include <string>

#include "telemetry/log_record.hpp"

namespace sluice::telemetry {

/// One JSON object and a line feed: timestamp, level, message, service, environment, generation,
/// trace_id, then the record's own fields. What is not known is null. No byte of any value can end
/// the line or leave its string.
std::string format_json(const LogRecord& record);

/// `01:43:02.123 INFO  message  key=value key="two words"` and a line feed, for a person at a
/// terminal. The context is left out, null fields too; control characters are escaped.
std::string format_human(const LogRecord& record);

}  // namespace sluice::telemetry
