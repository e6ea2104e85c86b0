// sluice dlq group, dlq note: one group of failures, and what people say about it.
#include <algorithm>
#include <ostream>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/try.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"
#include "ops/dead_letters.hpp"
#include "ops/schema.hpp"

namespace sluice::cli {
namespace {

constexpr std::int64_t kWidestBar = 40;
constexpr std::size_t kSampleErrorBytes = 60;

// The stretches in which something failed, each with a bar.
void print_histogram(const Session& session, const ops::GroupStory& story) {
  const std::int64_t peak = std::max<std::int64_t>(
      1, story.histogram.empty() ? 0 : *std::max_element(story.histogram.begin(), story.histogram.end()));
  Table table{"FAILED FROM", "COUNT", ""};
  for (std::size_t place = 0; place < story.histogram.size(); ++place) {
    const std::int64_t count = story.histogram[place];
    if (count == 0) continue;
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, count * kWidestBar / peak));
    table.row({clock_text(story.grid.from + story.grid.step * static_cast<std::int64_t>(place)), std::to_string(count),
               std::string(width, '#')});
  }
  table.print(session.out(), session.console().color);
}

void print_group(const Session& session, const ops::GroupStory& story, Timestamp now) {
  std::ostream& out = session.out();
  for (const store::FailureGroup& group : story.groups) {
    out << group.error_class << " in " << group.event_type << ", " << group.source << " to "
        << group.target.value_or("*") << ": " << counted(group.count, "dead letter") << ", " << ops::state_of(group);
    if (group.acknowledged_at) {
      out << " by " << printable(group.acknowledged_by) << ' ' << age_text(*group.acknowledged_at, now) << " ago";
    }
    if (group.came_back_generation) out << ", in generation " << *group.came_back_generation;
    out << "\n  " << printable(group.sample_error) << '\n';
  }
  if (!story.groups.empty()) {
    out << '\n';
    print_histogram(session, story);
    out << '\n';
    Table samples{"ID", "FAILED", "GEN", "ATTEMPTS", "ERROR"};
    for (const store::EventRecord& event : story.samples) {
      samples.row({event.envelope.event_id().to_string(), event.failed_at ? age_text(*event.failed_at, now) : "-",
                   std::to_string(event.generation), std::to_string(event.attempts),
                   std::string{utf8::prefix(event.last_error.value_or(""), kSampleErrorBytes)}});
    }
    samples.print(out, session.console().color);
  }
  for (const store::AuditRecord& comment : story.comments) {
    out << '\n'
        << clock_text(comment.at) << ' ' << printable(comment.actor.name) << ", " << comment.action << ": "
        << printable(comment.actor.reason) << '\n';
  }
  if (story.groups.empty()) session.note("no dead letter has this fingerprint now");
}

Result<Exit> show_group(Session& session) {
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_TRY(const auto story, ops::tell_group(*opened.store, session.arguments().positionals.front()));
  if (session.format() != Format::table) {
    session.out() << ops::to_json(story) << '\n';
    return Exit::ok;
  }
  SLUICE_TRY(const auto now, ops::now(*opened.store));
  print_group(session, story, now);
  return Exit::ok;
}

Result<Exit> note_group(Session& session) {
  const auto& words = session.arguments().positionals;
  SLUICE_TRY(const auto opened, session.open_existing());
  if (session.dry_run()) {
    SLUICE_TRY(const auto story, ops::tell_group(*opened.store, words.front()));
    session.note("dry run: would add a note to " + story.fingerprint);
    return Exit::ok;
  }
  SLUICE_TRY(const auto noted, ops::note_group(*opened.store, words.front(), session.actor(opened.config), words[1]));
  if (session.format() == Format::table) {
    session.out() << "noted on " << noted.fingerprint << '\n';
  } else {
    session.out() << ops::to_json(noted) << '\n';
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> dlq_group_commands() {
  return {{{"dlq", "group"},
           "one group of failures: when they happened, its newest events, notes and acknowledgements",
           {{"sluice dlq group 5f1c0a9b", ""}},
           {{"FINGERPRINT", "as `dlq groups` shows it, or its beginning"}},
           {},
           false,
           false,
           show_group},
          {{"dlq", "note"},
           "add a note to a group of failures; the audit keeps it",
           {{"sluice dlq note 5f1c0a9b 'the provider works on it, ticket 4711'", ""}},
           {{"FINGERPRINT", "as `dlq groups` shows it, or its beginning"}, {"TEXT", "the note"}},
           {actor_flag()},
           true,
           false,
           note_group}};
}

}  // namespace sluice::cli
