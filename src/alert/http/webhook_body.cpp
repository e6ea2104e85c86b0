#include "alert/http/webhook_body.hpp"

#include "alert/http/alert_fields.hpp"
#include "core/json_object.hpp"

namespace sluice::alert {

std::string webhook_body(const Alert& alert, const Sender& sender) {
  JsonObject body;
  body.text("alert", "event.failed")
      .uuid("alert_id", alert.alert_id)
      .text("service", sender.service)
      .text("environment", sender.environment);
  append_fields(body, alert);
  return body.str();
}

}  // namespace sluice::alert
