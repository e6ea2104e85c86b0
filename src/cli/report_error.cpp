#include "cli/report_error.hpp"

#include <ostream>

#include "ops/json_object.hpp"

namespace sluice::cli {

void report_error(std::ostream& err, const Error& error, Format format) {
  if (format != Format::table) {
    const std::string body = ops::JsonObject{}
                                 .text("code", name(error.code))
                                 .text("message", error.message)
                                 .text("field", error.field)
                                 .text("hint", error.hint)
                                 .text("retry", name(error.retry))
                                 .str();
    err << ops::JsonObject{}.raw("error", body).str() << '\n';
    return;
  }
  err << "sluice: " << printable(error.message) << '\n';
  if (!error.hint.empty()) err << "  hint: " << printable(error.hint) << '\n';
}

}  // namespace sluice::cli
