// /v1/dlq: the dead letters, groups first.
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/dead_letters.hpp"

namespace sluice::http {
namespace {

constexpr std::int64_t kCountCap = 10'000;

Result<std::string> groups(Context& context, const Call& call) {
  if (auto known = check_query(call, {"filter"}); !known) return std::move(known).error();
  const auto filter = filter_of(call, context.store);
  if (!filter) return filter.error();
  const auto found = ops::list_groups(context.store, *filter);
  if (!found) return found.error();
  return ops::to_json(*found);
}

Result<std::string> list_dead(Context& context, const Call& call) {
  const auto page = page_of(call, context.store);
  if (!page) return page.error();
  const auto found = ops::list_dead(context.store, *page);
  if (!found) return found.error();
  return ops::to_json(*found);
}

Result<std::string> count(Context& context, const Call& call) {
  if (auto known = check_query(call, {"filter"}); !known) return std::move(known).error();
  const auto filter = filter_of(call, context.store);
  if (!filter) return filter.error();
  const auto counted = ops::count_dead(context.store, *filter, kCountCap);
  if (!counted) return counted.error();
  return ops::to_json(*counted);
}

Result<std::string> acknowledge(Context& context, const Call& call) {
  const auto body =
      body_of(call, {{"fingerprint", ops::Parameter::Type::any_text, true, "of the group, or its beginning"},
                     reason_parameter(),
                     {"undo", ops::Parameter::Type::boolean, false, "it is not known any more"}});
  if (!body) return body.error();
  const bool known = !body->flag("undo");
  const auto done =
      ops::acknowledge(context.store, *body->text("fingerprint"), known, actor_of(call, *body->text("reason")));
  if (!done) return done.error();
  return ops::to_json(*done);
}

}  // namespace

std::vector<Route> dead_letter_routes(Context& context) {
  return {reading_route(context, "/v1/dlq/groups", groups), reading_route(context, "/v1/dlq/events", list_dead),
          reading_route(context, "/v1/dlq/count", count),
          changing_route(context, {"/v1/dlq/acknowledge"}, acknowledge)};
}

}  // namespace sluice::http
