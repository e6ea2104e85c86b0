// An alert as the JSON body of a generic webhook. Pure.
#pragma once

#include <string>

#include "alert/http/sender.hpp"
#include "core/alert.hpp"

namespace sluice::alert {

/// `{"alert":"event.failed","alert_id":…,"service":…,"environment":…,` and the fields of append_fields.
std::string webhook_body(const Alert& alert, const Sender& sender);

}  // namespace sluice::alert
