// /v1/events and /v1/dlq: list and show events and change single ones. Publishing has a file of its own.
#include <limits>
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/trace_context.hpp"
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_change.hpp"
#include "ops/event_json.hpp"
#include "ops/event_story.hpp"

namespace sluice::http {
namespace {

Result<std::string> list_events(Context& context, const Call& call) {
  SLUICE_TRY(const auto page, page_of(call, context.store));
  SLUICE_TRY(const auto found, ops::list_events(context.store, page));
  return page.filter.heads_only ? ops::heads_json(found.events, found.next_cursor) : ops::to_json(found);
}

// What may be done to it now, by this caller; the store decides again when it is done.
std::vector<std::string> actions(const Context& context, const store::EventRecord& event, const Caller& caller) {
  std::vector<std::string> names;
  if (caller.role < Role::operator_) return names;
  for (const std::string_view action : ops::actions_of(event)) {
    const bool edit = action == "edit_replay";
    if (!edit || (context.edit.enabled && caller.role >= Role::admin)) names.emplace_back(action);
  }
  return names;
}

Result<std::string> show_event(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"payload"}));
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto payload, choice_parameter(call, "payload", {"whole", "text"}));
  SLUICE_TRY(const auto story, ops::tell_story(context.store, id));
  return JsonObject{payload == "text" ? ops::payloadless_json(story) : ops::to_json(story)}
      .texts("actions", actions(context, story.event, call.caller))
      .text("payload_text", story.event.envelope.payload())
      .text("trace_url", trace_url(context.trace_url, story.event.envelope.trace_context()))
      .str();
}

Result<std::string> show_payload_before(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"before_replay"}));
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto replay, number_parameter(call, "before_replay", 1, 1, std::numeric_limits<int>::max()));
  SLUICE_TRY(const auto payload, ops::payload_before(context.store, id, replay));
  return JsonObject{}.uuid("event_id", id).number("before_replay", replay).text("payload_text", payload).str();
}

ops::Parameter generation_parameter(std::string_view otherwise) {
  return {"to_generation", ops::Parameter::Type::integer, false, otherwise, 1};
}

constexpr std::string_view kNewest = "the generation that gets it; default: the newest live one";

// Whoever may claim it now is told.
template <class Report>
Result<std::string> told(Context& context, const Result<Report>& report) {
  if (!report) return report.error();
  if (context.claimable) context.claimable();
  return ops::to_json(*report);
}

Result<std::string> replay(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter(),
                                             generation_parameter(kNewest),
                                             {"handler", ops::Parameter::Type::text, false, "this handler alone"}}));
  const store::Actor actor = actor_of(call, *body.text("reason"));
  const auto generation = body.integer("to_generation");
  if (const auto handler = body.text("handler")) {
    return told(context, ops::replay_to_handler(context.store, {id, *handler, generation}, actor, context.tracer));
  }
  return told(context, ops::replay_event(context.store, id, generation, actor, context.tracer));
}

Result<std::string> resend(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(
      const auto body,
      body_of(call, {reason_parameter(),
                     generation_parameter("the generation that gets it; default: that of the event, unless retired"),
                     {"handler", ops::Parameter::Type::text, true, "the handler that gets it again"}}));
  return told(context, ops::resend_event(context.store, {id, *body.text("handler"), body.integer("to_generation")},
                                         actor_of(call, *body.text("reason")), context.tracer));
}

Result<std::string> edit_replay(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body,
             body_of(call, {reason_parameter(),
                            generation_parameter(kNewest),
                            {"payload", ops::Parameter::Type::object, true, "what the event carries from now on"}}));
  return told(context, ops::replay_edited(context.store, context.edit,
                                          {id, *body.text("payload"), body.integer("to_generation"), nullptr},
                                          actor_of(call, *body.text("reason")), context.tracer));
}

Result<std::string> run_now(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter()}));
  return told(context, ops::run_now(context.store, id, actor_of(call, *body.text("reason"))));
}

Result<std::string> reschedule(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body,
             body_of(call, {reason_parameter(),
                            {"at", ops::Parameter::Type::text, true, "a time, or a duration from now like 2h"}}));
  return told(context, ops::reschedule(context.store, id, *body.text("at"), actor_of(call, *body.text("reason"))));
}

Result<std::string> cancel(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter()}));
  return told(context, ops::cancel_event(context.store, id, actor_of(call, *body.text("reason"))));
}

Result<std::string> tombstone(Context& context, const Call& call, bool discard) {
  SLUICE_TRY(const auto id, id_of(context, call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter()}));
  const store::Actor actor = actor_of(call, *body.text("reason"));
  SLUICE_CHECK(discard ? ops::discard_event(context.store, id, actor) : ops::restore_event(context.store, id, actor));
  if (!discard && context.claimable) context.claimable();
  return ops::discarded_json(id, discard);
}

Result<std::string> discard(Context& context, const Call& call) { return tombstone(context, call, true); }
Result<std::string> restore(Context& context, const Call& call) { return tombstone(context, call, false); }

constexpr std::int64_t kCountCap = 10'000;

Result<std::string> groups(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"filter"}));
  SLUICE_TRY(const auto filter, filter_of(call, context.store));
  SLUICE_TRY(const auto found, ops::list_groups(context.store, filter));
  return ops::to_json(found);
}

Result<std::string> list_dead(Context& context, const Call& call) {
  SLUICE_TRY(const auto page, page_of(call, context.store));
  SLUICE_TRY(const auto found, ops::list_dead(context.store, page));
  return page.filter.heads_only ? ops::heads_json(found.events, found.next_cursor) : ops::to_json(found);
}

Result<std::string> count(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"filter"}));
  SLUICE_TRY(const auto filter, filter_of(call, context.store));
  SLUICE_TRY(const auto counted, ops::count_dead(context.store, filter, kCountCap));
  return ops::to_json(counted);
}

Result<std::string> acknowledge(Context& context, const Call& call) {
  SLUICE_TRY(const auto body,
             body_of(call, {{"fingerprint", ops::Parameter::Type::any_text, true, "of the group, or its beginning"},
                            reason_parameter(),
                            {"undo", ops::Parameter::Type::boolean, false, "it is not known any more"}}));
  const bool known = !body.flag("undo");
  SLUICE_TRY(const auto done,
             ops::acknowledge(context.store, *body.text("fingerprint"), known, actor_of(call, *body.text("reason"))));
  return ops::to_json(done);
}

Result<std::string> show_group(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {}));
  SLUICE_TRY(const auto story, ops::tell_group(context.store, call.path.at("fingerprint")));
  return ops::to_json(story);
}

Result<std::string> note_group(Context& context, const Call& call) {
  SLUICE_TRY(const auto body,
             body_of(call, {{"text", ops::Parameter::Type::any_text, true, "the note; the audit keeps it"}}));
  SLUICE_TRY(const auto noted,
             ops::note_group(context.store, call.path.at("fingerprint"), actor_of(call, {}), *body.text("text")));
  return ops::to_json(noted);
}

}  // namespace

std::vector<Route> event_routes(Context& context) {
  return {reading_route(context, "/v1/events", list_events),
          reading_route(context, "/v1/events/{id}", show_event),
          reading_route(context, "/v1/events/{id}/payload", show_payload_before),
          changing_route(context, {"/v1/events/{id}/replay"}, replay),
          changing_route(context, {"/v1/events/{id}/edit-replay", Role::admin, 200, kListBody}, edit_replay),
          changing_route(context, {"/v1/events/{id}/resend"}, resend),
          changing_route(context, {"/v1/events/{id}/run-now"}, run_now),
          changing_route(context, {"/v1/events/{id}/reschedule"}, reschedule),
          changing_route(context, {"/v1/events/{id}/cancel"}, cancel),
          changing_route(context, {"/v1/events/{id}/discard"}, discard),
          changing_route(context, {"/v1/events/{id}/restore"}, restore)};
}

std::vector<Route> dead_letter_routes(Context& context) {
  return {reading_route(context, "/v1/dlq/groups", groups),
          reading_route(context, "/v1/dlq/events", list_dead),
          reading_route(context, "/v1/dlq/count", count),
          reading_route(context, "/v1/dlq/groups/{fingerprint}", show_group),
          changing_route(context, {"/v1/dlq/groups/{fingerprint}/notes"}, note_group),
          changing_route(context, {"/v1/dlq/acknowledge"}, acknowledge)};
}

}  // namespace sluice::http
