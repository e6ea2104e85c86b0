// From a call to what the use cases take, and from their results to answers.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/router.hpp"
#include "http/routes.hpp"
#include "ops/arguments.hpp"
#include "ops/event_query.hpp"

namespace sluice::http {

/// The JSON of a use case, or what went wrong.
using Use = std::function<Result<std::string>(Context&, const Call&)>;

inline constexpr std::size_t kSmallBody = std::size_t{64} * 1024;
inline constexpr std::size_t kListBody = std::size_t{1024} * 1024;  ///< for requests that name many events

Route reading_route(Context& context, std::string pattern, Use use);
struct ChangingRoute {
  std::string pattern;
  Role role = Role::operator_;
  int status = 200;
  std::size_t body_limit = kSmallBody;
};
/// A POST.
Route changing_route(Context& context, ChangingRoute shape, Use use);

/// The answer to a body that is not said to be JSON: a page elsewhere can send a form without being asked. An empty
/// body and `{}` need not say it.
std::optional<Response> refuse_media(const Call& call);

/// Who the audit names. The console says of itself that it is the console; it is a label, not a right.
store::Actor actor_of(const Call& call, std::string reason);

/// A JSON object by the table; an empty body counts as `{}`.
Result<ops::Arguments> body_of(const Call& call, const std::vector<ops::Parameter>& parameters);
ops::Parameter reason_parameter();
/// Of a change that needs none.
ops::Parameter optional_reason();

/// Refuses parameters that are not among `known`, naming the nearest things that are.
Result<void> check_query(const Call& call, const std::vector<std::string_view>& known);
Result<int> number_parameter(const Call& call, std::string_view name, int standard, int least, int most);
/// One of two words; the first where it is not given.
Result<std::string> choice_parameter(const Call& call, std::string_view name, std::array<std::string_view, 2> words);
Result<ops::EventQuery> query_of(const Call& call);
Result<store::EventFilter> filter_of(const Call& call, store::Administering& store);
/// filter, sort, limit, cursor and payload.
Result<ops::ListRequest> page_of(const Call& call, store::Administering& store);
/// The event of the path, by its id or the beginning of it.
Result<Uuid> id_of(Context& context, const Call& call);
Result<Generation> generation_of(const Call& call);

}  // namespace sluice::http
