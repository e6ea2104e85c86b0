// sluice db doorbell: when a publish rings.
#include <ostream>
#include <utility>

#include "cli/audit_flags.hpp"
#include "cli/noun.hpp"
#include "core/json_object.hpp"
#include "ops/doorbell.hpp"

namespace sluice::cli {
namespace {

void print_mode(const Session& session, store::DoorbellMode mode) {
  if (session.format() == Format::table) {
    session.out() << name(mode) << '\n';
  } else {
    session.out() << JsonObject{}.text("doorbell", name(mode)).str() << '\n';
  }
}

void print_change(const Session& session, store::DoorbellMode before, store::DoorbellMode after) {
  if (session.format() != Format::table) {
    session.out() << JsonObject{}
                         .boolean("dry_run", session.dry_run())
                         .text("doorbell", name(after))
                         .text("before", name(before))
                         .str()
                  << '\n';
    return;
  }
  session.out() << name(after) << '\n';
  session.note((session.dry_run() ? "dry run: would be " : "is now ") + std::string{name(after)} + ", was " +
               std::string{name(before)});
}

Result<Exit> doorbell(Session& session) {
  const auto wanted = session.arguments().positional(0);
  const auto config = session.config();
  if (!config) return config.error();
  auto store = session.open(*config, Session::Access::existing);
  if (!store) return std::move(store).error();
  const auto before = ops::doorbell(**store);
  if (!before) return before.error();
  const auto mode = wanted ? ops::parse_doorbell(*wanted) : std::nullopt;
  if (!mode) {
    print_mode(session, *before);
    return Exit::ok;
  }
  if (!session.dry_run()) {
    if (auto set = ops::set_doorbell(**store, *mode, session.actor(*config)); !set) return std::move(set).error();
  }
  print_change(session, *before, *mode);
  return Exit::ok;
}

}  // namespace

Command db_doorbell_command() {
  return {{"db", "doorbell"},
          "print or set when a publish rings: always, or only while every worker sleeps",
          {{"sluice db doorbell", "print the mode"},
           {"sluice db doorbell when-idle --reason 'many publishers'", "publishers no longer wait for each other"}},
          {{"MODE", "always or when-idle", false, {"always", "when-idle"}}},
          {actor_flag(), reason_flag()},
          true,
          false,
          doorbell};
}

}  // namespace sluice::cli
