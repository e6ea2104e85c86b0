// /v1/events: look at events and change single ones. Publishing has a file of its own.
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/event_json.hpp"
#include "ops/event_story.hpp"
#include "ops/replay_event.hpp"

namespace sluice::http {
namespace {

Result<std::string> list_events(Context& context, const Call& call) {
  const auto page = page_of(call, context.store);
  if (!page) return page.error();
  const auto found = ops::list_events(context.store, *page);
  if (!found) return found.error();
  return ops::to_json(*found);
}

// What may be done to it now, by this caller; the store decides again when it is done.
std::vector<std::string> actions(const store::EventRecord& event, const Caller& caller) {
  if (caller.role < Role::operator_ || event.status != Status::failed) return {};
  return event.deleted_at ? std::vector<std::string>{"restore"} : std::vector<std::string>{"replay", "discard"};
}

Result<std::string> show_event(Context& context, const Call& call) {
  const auto id = id_of(call);
  if (!id) return id.error();
  const auto story = ops::tell_story(context.store, *id);
  if (!story) return story.error();
  return JsonObject{ops::to_json(*story)}
      .texts("actions", actions(story->event, call.caller))
      .text("payload_text", story->event.envelope.payload())
      .str();
}

Result<std::string> replay(Context& context, const Call& call) {
  const auto id = id_of(call);
  if (!id) return id.error();
  const auto body = body_of(call, {reason_parameter(),
                                   {"to_generation", ops::Parameter::Type::integer, false,
                                    "the generation that gets it; default: the newest live one", 1}});
  if (!body) return body.error();
  const auto report =
      ops::replay_event(context.store, *id, body->integer("to_generation"), actor_of(call, *body->text("reason")));
  if (!report) return report.error();
  if (context.claimable) context.claimable();
  return ops::to_json(*report);
}

Result<std::string> tombstone(Context& context, const Call& call, bool discard) {
  const auto id = id_of(call);
  if (!id) return id.error();
  const auto body = body_of(call, {reason_parameter()});
  if (!body) return body.error();
  const store::Actor actor = actor_of(call, *body->text("reason"));
  const auto changed =
      discard ? ops::discard_event(context.store, *id, actor) : ops::restore_event(context.store, *id, actor);
  if (!changed) return changed.error();
  return ops::discarded_json(*id, discard);
}

Result<std::string> discard(Context& context, const Call& call) { return tombstone(context, call, true); }
Result<std::string> restore(Context& context, const Call& call) { return tombstone(context, call, false); }

}  // namespace

std::vector<Route> event_routes(Context& context) {
  return {reading_route(context, "/v1/events", list_events), reading_route(context, "/v1/events/{id}", show_event),
          changing_route(context, {"/v1/events/{id}/replay"}, replay),
          changing_route(context, {"/v1/events/{id}/discard"}, discard),
          changing_route(context, {"/v1/events/{id}/restore"}, restore)};
}

}  // namespace sluice::http
