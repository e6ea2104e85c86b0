#include "ops/error_json.hpp"

#include "core/json_object.hpp"

namespace sluice::ops {

std::string to_json(const Error& error) {
  const std::string body = JsonObject{}
                               .text("code", name(error.code))
                               .text("message", error.message)
                               .text("field", error.field)
                               .text("hint", error.hint)
                               .text("retry", name(error.retry))
                               .str();
  return JsonObject{}.raw("error", body).str();
}

}  // namespace sluice::ops
