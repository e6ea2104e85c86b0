#include "cli/confirm.hpp"

#include <istream>
#include <ostream>

namespace sluice::cli {
namespace {

// More than this, and a reflex is not enough.
constexpr std::int64_t kTypeTheNumber = 100;

Result<std::optional<std::string>> ask(const Session& session, const std::string& question,
                                       const std::string& expected) {
  if (session.arguments().has("--yes")) return std::optional<std::string>{};
  if (auto answerable = check_answerable(session, question); !answerable) return std::move(answerable).error();
  Console& console = session.console();
  console.err << "sluice: " << printable(question) << "? [" << expected << "] " << std::flush;
  std::string answer;
  std::getline(console.in, answer);
  return std::optional{std::move(answer)};
}

}  // namespace

Result<void> check_answerable(const Session& session, const std::string& purpose) {
  const bool asked = session.console().in_is_tty && !session.arguments().has("--no-input");
  if (asked || session.dry_run() || session.arguments().has("--yes")) return {};
  Error error = invalid("--yes", "not a terminal: pass --yes to " + purpose);
  error.hint = "--dry-run shows what would change";
  return error;
}

Result<bool> confirm(const Session& session, const std::string& question) {
  const auto answer = ask(session, question, "y/N");
  if (!answer) return answer.error();
  return !*answer || **answer == "y" || **answer == "Y" || **answer == "yes";
}

Result<bool> confirm_many(const Session& session, const std::string& question, std::int64_t count) {
  if (count <= kTypeTheNumber) return confirm(session, question);
  const auto answer = ask(session, question, "type " + std::to_string(count) + " to go on");
  if (!answer) return answer.error();
  return !*answer || **answer == std::to_string(count);
}

}  // namespace sluice::cli
