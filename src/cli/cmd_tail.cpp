// sluice tail: follow events until Ctrl-C.
#include <ostream>
#include <utility>

#include "cli/filter_flags.hpp"
#include "cli/noun.hpp"
#include "cli/numbers.hpp"
#include "cli/session.hpp"
#include "cli/when.hpp"
#include "core/words.hpp"
#include "ops/event_json.hpp"
#include "ops/event_tail.hpp"

namespace sluice::cli {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds{500};
constexpr int kFirst = 10;

void print_line(const Session& session, const store::EventRecord& event) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(event) << std::endl;
    return;
  }
  const auto& envelope = event.envelope;
  std::string line = clock_text(event.failed_at.value_or(event.delivered_at.value_or(event.published_at))) + ' ' +
                     std::string{name(event.status)} + ' ' + envelope.event_type() + ' ' +
                     envelope.event_id().to_string();
  if (event.attempts > 0) line += ", " + counted(event.attempts, "failed attempt");
  if (event.last_error) line += ": " + *event.last_error;
  session.out() << printable(line) << std::endl;
}

// The filter may stand there without --filter, as one word.
Result<ops::EventQuery> query(const Arguments& arguments) {
  Arguments given = arguments;
  if (const auto words = arguments.positional(0)) {
    if (given.value("--filter")) return invalid("--filter", "the filter is given twice");
    given.values["--filter"] = *words;
  }
  return query_of(given);
}

Result<Exit> tail(Session& session) {
  const auto wanted = query(session.arguments());
  if (!wanted) return wanted.error();
  const auto first = number_of(session.arguments(), {"--lines", kFirst, 0, ops::EventTail::kWatched});
  if (!first) return first.error();
  session.adapters().interruption->arm();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  auto filter = wanted->filter(*opened->store);
  if (!filter) return std::move(filter).error();
  ops::EventTail events{*std::move(filter)};
  do {
    const auto changed = events.next(*opened->store, *first);
    if (!changed && changed.error().retry == Retry::never) return changed.error();
    if (!changed) session.note(changed.error().message + "; trying again");
    if (changed) {
      for (const auto& event : *changed) print_line(session, event);
    }
    if (session.arguments().has("--once")) return Exit::ok;
  } while (session.out() && !session.adapters().interruption->wait_for(kLookEvery));
  return Exit::ok;
}

}  // namespace

std::vector<Command> tail_commands() {
  return {{{"tail"},
           "follow events: a line when one appears and when its state changes; Ctrl-C ends it",
           {{"sluice tail", ""}, {"sluice tail 'type:billing.* status:failed'", ""}},
           {{"FILTER", "as --filter", false}},
           combined(filter_flags(), {{"--lines", "", "N", "begin with the newest N; default 10"},
                                     {"--once", "", "", "print them and end"}}),
           false,
           false,
           tail}};
}

}  // namespace sluice::cli
