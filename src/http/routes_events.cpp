// /v1/events and /v1/dlq: list and show events and change single ones. Publishing has a file of its own.
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_json.hpp"
#include "ops/event_story.hpp"

namespace sluice::http {
namespace {

Result<std::string> list_events(Context& context, const Call& call) {
  SLUICE_TRY(const auto page, page_of(call, context.store));
  SLUICE_TRY(const auto found, ops::list_events(context.store, page));
  return ops::to_json(found);
}

// What may be done to it now, by this caller; the store decides again when it is done.
std::vector<std::string> actions(const store::EventRecord& event, const Caller& caller) {
  if (caller.role < Role::operator_ || event.status != Status::failed) return {};
  return event.deleted_at ? std::vector<std::string>{"restore"} : std::vector<std::string>{"replay", "discard"};
}

Result<std::string> show_event(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(call));
  SLUICE_TRY(const auto story, ops::tell_story(context.store, id));
  return JsonObject{ops::to_json(story)}
      .texts("actions", actions(story.event, call.caller))
      .text("payload_text", story.event.envelope.payload())
      .str();
}

Result<std::string> replay(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, id_of(call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter(),
                                             {"to_generation", ops::Parameter::Type::integer, false,
                                              "the generation that gets it; default: the newest live one", 1}}));
  SLUICE_TRY(const auto report,
             ops::replay_event(context.store, id, body.integer("to_generation"), actor_of(call, *body.text("reason"))));
  if (context.claimable) context.claimable();
  return ops::to_json(report);
}

Result<std::string> tombstone(Context& context, const Call& call, bool discard) {
  SLUICE_TRY(const auto id, id_of(call));
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter()}));
  const store::Actor actor = actor_of(call, *body.text("reason"));
  SLUICE_CHECK(discard ? ops::discard_event(context.store, id, actor) : ops::restore_event(context.store, id, actor));
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
  return ops::to_json(found);
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

}  // namespace

std::vector<Route> event_routes(Context& context) {
  return {reading_route(context, "/v1/events", list_events), reading_route(context, "/v1/events/{id}", show_event),
          changing_route(context, {"/v1/events/{id}/replay"}, replay),
          changing_route(context, {"/v1/events/{id}/discard"}, discard),
          changing_route(context, {"/v1/events/{id}/restore"}, restore)};
}

std::vector<Route> dead_letter_routes(Context& context) {
  return {reading_route(context, "/v1/dlq/groups", groups), reading_route(context, "/v1/dlq/events", list_dead),
          reading_route(context, "/v1/dlq/count", count),
          changing_route(context, {"/v1/dlq/acknowledge"}, acknowledge)};
}

}  // namespace sluice::http
