#include "cli/report_error.hpp"

#include <ostream>

#include "ops/error_json.hpp"

namespace sluice::cli {

void report_error(std::ostream& err, const Error& error, Format format) {
  if (format != Format::table) {
    err << ops::to_json(error) << '\n';
    return;
  }
  err << "sluice: " << printable(error.message) << '\n';
  if (!error.hint.empty()) err << "  hint: " << printable(error.hint) << '\n';
}

}  // namespace sluice::cli
