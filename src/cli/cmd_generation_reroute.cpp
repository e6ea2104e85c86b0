// sluice generation reroute: what is left of one generation becomes due in another.
#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/generations.hpp"

namespace sluice::cli {
namespace {

constexpr int kRerouteBatch = 500;

struct Reroute {
  Generation from = 0;
  Generation to = 0;
  int rate = 0;  ///< events per second; 0: as fast as it goes
};

Result<Reroute> reroute_of(const Arguments& arguments) {
  Reroute request;
  SLUICE_TRY(request.from, generation_argument(arguments));
  const auto target = arguments.value("--to");
  if (!target) return invalid("--to", "--to must name the generation that gets the events");
  SLUICE_TRY(request.to, parse_generation(*target, "--to"));
  SLUICE_TRY(request.rate, number_of(arguments, {"--rate", 0, 1}));
  return request;
}

std::string events(std::int64_t count) { return counted(count, "event"); }

/// Says how far it has come, about ten times in all, and waits as the rate wants it.
class Pace {
 public:
  Pace(const Session& session, std::int64_t planned, const Reroute& request)
      : session_(session), planned_(planned), rate_(request.rate) {}

  [[nodiscard]] int batch() const { return rate_ > 0 ? std::min(rate_, kRerouteBatch) : kRerouteBatch; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

  bool go_on(std::int64_t moved) {
    if (moved >= next_note_) {
      session_.note("moved " + std::to_string(moved) + " of " + events(std::max(planned_, moved)));
      next_note_ = moved + std::max<std::int64_t>(planned_ / 10, 1);
    }
    const Duration pause = rate_ > 0 ? Duration{std::chrono::seconds{1}} * batch() / rate_ : Duration::zero();
    interrupted_ = session_.adapters().interruption->wait_for(pause);
    return !interrupted_;
  }

 private:
  const Session& session_;
  std::int64_t planned_;
  int rate_;
  std::int64_t next_note_ = 1;
  bool interrupted_ = false;
};

void describe(const Session& session, const ops::ReroutePlan& plan) {
  if (plan.from.in_flight > 0) {
    session.note(events(plan.from.in_flight) + " in flight stay in generation " + std::to_string(plan.from.generation) +
                 "; if they become pending again, reroute once more");
  }
  if (plan.to.workers == 0) {
    session.note("no worker of generation " + std::to_string(plan.to.generation) + " is alive");
  }
}

void print_report(const Session& session, const ops::ReroutePlan& plan, const ops::RerouteReport& report) {
  if (session.format() == Format::table) {
    session.out() << (session.dry_run() ? plan.from.pending : report.moved) << '\n';
  } else {
    session.out() << ops::to_json(plan, report, session.dry_run()) << '\n';
  }
}

Exit conclude(const Session& session, const ops::RerouteReport& report, const Pace& pace) {
  if (report.complete) return Exit::ok;
  session.note("stopped after " + events(report.moved) + (report.failed ? ": " + report.failed->message : "") +
               "; run it again to go on");
  return pace.interrupted() ? Exit::interrupted : Exit::partial;
}

Result<Exit> reroute(Session& session) {
  SLUICE_TRY(const auto request, reroute_of(session.arguments()));
  SLUICE_CHECK(check_reason(session));
  SLUICE_TRY(const auto config, session.config());
  if (!session.dry_run()) session.adapters().interruption->arm();
  SLUICE_TRY(auto store, session.open(config, Session::Access::existing));
  SLUICE_TRY(const auto plan, ops::plan_reroute(*store, request.from, request.to));
  const std::string what = "move " + std::string{plan.from.pending_estimated ? "about " : ""} +
                           events(plan.from.pending) + " from generation " + std::to_string(request.from) +
                           " to generation " + std::to_string(request.to);
  describe(session, plan);
  if (session.dry_run()) {
    print_report(session, plan, {});
    session.note("dry run: would " + what);
    return Exit::ok;
  }
  SLUICE_TRY(const auto agreed, confirm(session, what));
  if (!agreed) return declined(session);

  Pace pace{session, plan.from.pending, request};
  const auto report = ops::reroute(*store, plan, pace.batch(), session.actor(config),
                                   [&](std::int64_t moved) { return pace.go_on(moved); });
  if (report.failed && report.moved == 0) return *report.failed;
  print_report(session, plan, report);
  return conclude(session, report, pace);
}

}  // namespace

Command generation_reroute_command() {
  return {{"generation", "reroute"},
          "move the pending events of a generation to another one",
          {{"sluice generation reroute 41 --to 42 --dry-run", "how many would move"},
           {"sluice generation reroute 41 --to 42 --reason 'no worker of 41 is left' --yes", ""}},
          {{"N", "the generation that has them"}},
          {{"--to", "", "M", "the generation that gets them: allocated or live; required"},
           {"--rate", "", "N", "at most this many events per second"},
           actor_flag(),
           required_reason_flag()},
          true,
          false,
          reroute};
}

}  // namespace sluice::cli
