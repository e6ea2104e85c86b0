// sluice dlq ack: somebody knows about this group of failures.
#include <ostream>

#include "cli/audit_flags.hpp"
#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "core/words.hpp"
#include "ops/dead_letters.hpp"

namespace sluice::cli {
namespace {

Result<Exit> ack(Session& session) {
  if (auto given = check_reason(session); !given) return std::move(given).error();
  const std::string& fingerprint = session.arguments().positionals.front();
  const bool known = !session.arguments().has("--undo");
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  if (session.dry_run()) {
    const auto groups = ops::preview_acknowledge(*opened->store, fingerprint);
    if (!groups) return groups.error();
    session.out() << groups->size() << '\n';
    session.note("dry run: " + counted(static_cast<std::int64_t>(groups->size()), "group") + " with dead letters");
    return Exit::ok;
  }
  const auto done = ops::acknowledge(*opened->store, fingerprint, known, session.actor(opened->config));
  if (!done) return done.error();
  if (session.format() == Format::table) {
    session.out() << counted(done->groups, "group") << (known ? " acknowledged" : " open again") << '\n';
  } else {
    session.out() << ops::to_json(*done) << '\n';
  }
  return Exit::ok;
}

}  // namespace

Command dlq_ack_command() {
  return {{"dlq", "ack"},
          "acknowledge a group of failures: it needs no review until it comes back",
          {{"sluice dlq ack 5f1c0a9be2d47c33 --reason 'fix is in generation 43'", ""},
           {"sluice dlq ack 5f1c0a9be2d47c33 --undo --reason 'not fixed after all'", ""}},
          {{"FINGERPRINT", "as `dlq groups` shows it, or its beginning"}},
          {{"--undo", "", "", "take the acknowledgement back"}, actor_flag(), required_reason_flag()},
          true,
          false,
          ack};
}

}  // namespace sluice::cli
