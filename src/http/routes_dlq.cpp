// /v1/dlq: the dead letters, groups first.
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/dead_letters.hpp"

namespace sluice::http {
namespace {

constexpr std::int64_t kCountCap = 10'000;

Result<std::string> groups(Desk& desk, const Call& call) {
  if (auto known = check_query(call, {"filter"}); !known) return std::move(known).error();
  const auto filter = filter_of(call, desk.store);
  if (!filter) return filter.error();
  const auto found = ops::list_groups(desk.store, *filter);
  if (!found) return found.error();
  return ops::to_json(*found);
}

Result<std::string> list_dead(Desk& desk, const Call& call) {
  const auto page = page_of(call, desk.store);
  if (!page) return page.error();
  const auto found = ops::list_dead(desk.store, *page);
  if (!found) return found.error();
  return ops::to_json(*found);
}

Result<std::string> count(Desk& desk, const Call& call) {
  if (auto known = check_query(call, {"filter"}); !known) return std::move(known).error();
  const auto filter = filter_of(call, desk.store);
  if (!filter) return filter.error();
  const auto counted = ops::count_dead(desk.store, *filter, kCountCap);
  if (!counted) return counted.error();
  return ops::to_json(*counted);
}

Result<std::string> acknowledge(Desk& desk, const Call& call) {
  const auto body =
      body_of(call, {{"fingerprint", ops::Parameter::Type::any_text, true, "of the group, or its beginning"},
                     reason_parameter(),
                     {"undo", ops::Parameter::Type::boolean, false, "it is not known any more"}});
  if (!body) return body.error();
  const bool known = !body->flag("undo");
  const auto done =
      ops::acknowledge(desk.store, *body->text("fingerprint"), known, actor_of(call, *body->text("reason")));
  if (!done) return done.error();
  return ops::to_json(*done);
}

}  // namespace

std::vector<Route> dead_letter_routes(Desk& desk) {
  return {reading_route(desk, "/v1/dlq/groups", groups), reading_route(desk, "/v1/dlq/events", list_dead),
          reading_route(desk, "/v1/dlq/count", count), changing_route(desk, {"/v1/dlq/acknowledge"}, acknowledge)};
}

}  // namespace sluice::http
