#include "cli/confirm.hpp"

#include <istream>
#include <ostream>

namespace sluice::cli {

Result<bool> confirm(const Session& session, const std::string& question) {
  if (session.arguments().has("--yes")) return true;
  Console& console = session.console();
  if (!console.in_is_tty || session.arguments().has("--no-input")) {
    Error error = invalid("--yes", "nobody can be asked here: give --yes to " + question);
    error.hint = "--dry-run shows what would change";
    return error;
  }
  console.err << "sluice: " << printable(question) << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(console.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace sluice::cli
