// /v1/filters: filters that the team keeps under a name.
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/search.hpp"

namespace sluice::http {
namespace {

Result<std::string> list_filters(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {}));
  SLUICE_TRY(const auto saved, ops::list_filters(context.store));
  return ops::to_json(saved);
}

Result<std::string> save_filter(Context& context, const Call& call) {
  SLUICE_TRY(const auto body,
             body_of(call, {{"name", ops::Parameter::Type::text, true, "what it is called"},
                            {"filter", ops::Parameter::Type::text, true, "which events, in the grammar of filters"},
                            optional_reason()}));
  SLUICE_TRY(const auto saved, ops::save_filter(context.store, *body.text("name"), *body.text("filter"),
                                                actor_of(call, body.text("reason").value_or(""))));
  return ops::to_json(saved);
}

Result<std::string> remove_filter(Context& context, const Call& call) {
  SLUICE_TRY(const auto body, body_of(call, {optional_reason()}));
  const std::string& name = call.path.at("name");
  SLUICE_TRY(const auto saved, ops::find_filter(context.store, name));
  SLUICE_CHECK(ops::remove_filter(context.store, name, actor_of(call, body.text("reason").value_or(""))));
  return ops::to_json(saved);
}

}  // namespace

std::vector<Route> filter_routes(Context& context) {
  return {reading_route(context, "/v1/filters", list_filters), changing_route(context, {"/v1/filters"}, save_filter),
          changing_route(context, {"/v1/filters/{name}/remove"}, remove_filter)};
}

}  // namespace sluice::http
