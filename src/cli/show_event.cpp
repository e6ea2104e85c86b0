#include "cli/show_event.hpp"

#include <ostream>

#include "cli/table.hpp"
#include "cli/when.hpp"
#include "ops/event_json.hpp"

namespace sluice::cli {
namespace {

std::string time_or_empty(const std::optional<Timestamp>& at) { return at ? clock_text(*at) : ""; }

void show_envelope(std::ostream& out, const EventEnvelope& envelope) {
  out << "\nEnvelope\n";
  print_pairs(out, {{"event_id", envelope.event_id().to_string()},
                    {"event_type", envelope.event_type()},
                    {"event_version", std::to_string(envelope.event_version())},
                    {"occurred_at", clock_text(envelope.occurred_at())},
                    {"source", envelope.source()},
                    {"target", envelope.target().value_or("(broadcast)")},
                    {"workspace_id", envelope.workspace_id() ? envelope.workspace_id()->to_string() : ""},
                    {"idempotency_key", envelope.idempotency_key()},
                    {"trace_context", envelope.trace_context().value_or("")},
                    {"payload", envelope.payload()}});
}

std::string waits_text(const std::vector<ops::Wait>& waits) {
  std::string text;
  for (const ops::Wait& wait : waits) text += (text.empty() ? "" : "; ") + wait.detail;
  return text;
}

void show_state(std::ostream& out, const ops::EventStory& story) {
  const store::EventRecord& event = story.event;
  out << "\nState\n";
  print_pairs(out, {{"status", std::string{name(event.status)} + (event.deleted_at ? ", discarded" : "")},
                    {"waits_for", waits_text(story.waits_for)},
                    {"attempts", std::to_string(event.attempts)},
                    {"last_error", event.last_error.value_or("")},
                    {"error_class", event.error_class.value_or("")},
                    {"fingerprint", event.fingerprint.value_or("")},
                    {"generation", std::to_string(event.generation)},
                    {"channel", event.channel},
                    {"content_class", event.content_class},
                    {"ordering_key", event.ordering_key.value_or("")},
                    {"claimed_by", event.claimed_by.value_or("")},
                    {"claim_seq", std::to_string(event.claim_seq)},
                    {"retry_after", time_or_empty(event.retry_after)},
                    {"delivered_at", time_or_empty(event.delivered_at)},
                    {"failed_at", time_or_empty(event.failed_at)},
                    {"deleted_at", time_or_empty(event.deleted_at)}});
}

std::string handler_detail(const ops::HandlerState& handler) {
  if (handler.handled_at) return clock_text(*handler.handled_at);
  if (handler.attempts == 0) return "";
  return std::to_string(handler.attempts) + " failed: " + handler.last_error;
}

void show_handlers(Console& console, const std::vector<ops::HandlerState>& handlers) {
  console.out << "\nHandlers\n";
  if (handlers.empty()) console.out << "  nobody subscribes to it, and none has handled it\n";
  Table table{"HANDLER", "STATE", "DETAIL"};
  for (const auto& handler : handlers) {
    table.row({handler.handler_name, std::string{name(handler.state)}, handler_detail(handler)});
  }
  if (!table.empty()) table.print(console.out, console.color);
}

void show_history(Console& console, const store::EventRecord& event) {
  Table table{"CYCLE", "ATTEMPTS", "FAILED", "REPLAYED", "BY", "ERROR"};
  for (const auto& cycle : ops::read_history(event.failure_history)) {
    table.row({std::to_string(cycle.cycle), std::to_string(cycle.attempts), time_or_empty(cycle.failed_at),
               time_or_empty(cycle.replayed_at), cycle.replayed_by, cycle.last_error});
  }
  if (table.empty()) return;
  console.out << "\nFailure history\n";
  table.print(console.out, console.color);
}

void show_audit(Console& console, const std::vector<store::AuditRecord>& audit) {
  if (audit.empty()) return;
  console.out << "\nAudit\n";
  Table table{"AT", "ACTION", "WHO", "THROUGH", "WHY"};
  for (const auto& record : audit) {
    table.row({clock_text(record.at), record.action, record.actor.name, record.actor.surface, record.actor.reason});
  }
  table.print(console.out, console.color);
}

}  // namespace

void show_event(Console& console, const ops::EventStory& story) {
  std::ostream& out = console.out;
  const auto& event = story.event;
  out << printable(event.envelope.event_type()) << ' ' << event.envelope.event_id().to_string() << " is "
      << name(event.status) << '\n';
  show_envelope(out, event.envelope);
  show_state(out, story);
  out << "\nTimeline\n";
  Table timeline{"AT", "WHAT", "DETAIL"};
  for (const auto& moment : story.timeline) timeline.row({clock_text(moment.at), moment.what, moment.detail});
  timeline.print(out, console.color);
  show_handlers(console, story.handlers);
  show_history(console, event);
  show_audit(console, story.audit);
}

Result<Exit> show_event_command(Session& session) {
  const auto id = Uuid::parse(session.arguments().positionals.front(), "ID");
  if (!id) return id.error();
  const auto opened = session.open_existing();
  if (!opened) return opened.error();
  const auto story = ops::tell_story(*opened->store, *id);
  if (!story) return story.error();
  if (session.format() == Format::table) {
    show_event(session.console(), *story);
  } else {
    session.out() << ops::to_json(*story) << '\n';
  }
  return Exit::ok;
}

}  // namespace sluice::cli
