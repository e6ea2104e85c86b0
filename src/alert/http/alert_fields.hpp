// What every receiver is told about an alert, under the same names as in the log and the schema. Pure.
#pragma once

#include "core/alert.hpp"
#include "core/json_object.hpp"

namespace sluice::alert {

/// Appends event_id, event_type, source, target, workspace_id, generation, handler_name, error_class,
/// fingerprint, last_error, attempts, suppressed, trace_context and failed_at. What is not known is null.
void append_fields(JsonObject& object, const Alert& alert);

}  // namespace sluice::alert
