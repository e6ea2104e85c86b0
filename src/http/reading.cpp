#include "http/reading.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/try.hpp"
#include "core/words.hpp"
#include "http/message.hpp"

namespace sluice::http {

Route reading_route(Context& context, std::string pattern, Use use) {
  return {"GET",
          std::move(pattern),
          Role::viewer,
          0,
          [&context, use = std::move(use)](const Call& call) {
            auto json = use(context, call);
            return json ? json_response(200, *std::move(json)) : problem(json.error());
          },
          {}};
}

std::optional<Response> refuse_media(const Call& call) {
  const std::string& body = call.request.body;
  // `curl -d '{}'` calls it a form; a body that says nothing is the same as none.
  if (body.find_first_not_of(" \t\r\n{}") == std::string::npos) return std::nullopt;
  if (media_type(call.request) == "application/json") return std::nullopt;
  return problem(415, "unsupported_media", "send JSON, with Content-Type: application/json");
}

Route changing_route(Context& context, ChangingRoute shape, Use use) {
  return {"POST",
          std::move(shape.pattern),
          shape.role,
          shape.body_limit,
          [&context, status = shape.status, use = std::move(use)](const Call& call) {
            if (auto refusal = refuse_media(call)) return *std::move(refusal);
            auto json = use(context, call);
            return json ? json_response(status, *std::move(json)) : problem(json.error());
          },
          {}};
}

store::Actor actor_of(const Call& call, std::string reason) {
  const bool console = call.request.header("x-sluice-surface") == "console";
  return {call.caller.name, console ? "console" : "http", std::move(reason)};
}

Result<ops::Arguments> body_of(const Call& call, const std::vector<ops::Parameter>& parameters) {
  return ops::Arguments::read(parameters, call.request.body);
}

ops::Parameter reason_parameter() { return {"reason", ops::Parameter::Type::reason, true, "why; the audit keeps it"}; }

ops::Parameter optional_reason() { return {"reason", ops::Parameter::Type::reason, false, "why; the audit keeps it"}; }

Result<void> check_query(const Call& call, const std::vector<std::string_view>& known) {
  for (const auto& [name, unused] : call.request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string names = joined(known, ", ");
    return invalid(
        name, "`" + name + "` is not a parameter here; " + (names.empty() ? "there are none" : "these are: " + names));
  }
  return {};
}

Result<int> number_parameter(const Call& call, std::string_view name, int standard, int least, int most) {
  const auto text = call.request.parameter(name);
  if (!text) return standard;
  int number = 0;
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem != std::errc{} || stop != text->data() + text->size() || number < least || number > most) {
    return invalid(std::string{name}, std::string{name} + " must be a whole number from " + std::to_string(least) +
                                          " to " + std::to_string(most));
  }
  return number;
}

Result<std::string> choice_parameter(const Call& call, std::string_view name, std::array<std::string_view, 2> words) {
  auto text = call.request.parameter(name).value_or(std::string{words[0]});
  if (text == words[0] || text == words[1]) return text;
  return invalid(std::string{name},
                 std::string{name} + " must be `" + std::string{words[0]} + "` or `" + std::string{words[1]} + "`");
}

Result<ops::EventQuery> query_of(const Call& call) {
  return ops::EventQuery::parse(call.request.parameter("filter").value_or(""));
}

Result<store::EventFilter> filter_of(const Call& call, store::Administering& store) {
  SLUICE_TRY(const auto query, query_of(call));
  return query.filter(store);
}

Result<ops::ListRequest> page_of(const Call& call, store::Administering& store) {
  SLUICE_CHECK(check_query(call, {"filter", "sort", "limit", "cursor", "payload"}));
  SLUICE_TRY(auto filter, filter_of(call, store));
  ops::ListRequest request{std::move(filter), 50, call.request.parameter("cursor")};
  SLUICE_TRY(request.limit, number_parameter(call, "limit", request.limit, 1, ops::kMaxPage));
  SLUICE_TRY(const auto payload, choice_parameter(call, "payload", {"whole", "none"}));
  request.filter.heads_only = payload == "none";
  SLUICE_TRY(const auto sort, choice_parameter(call, "sort", {"newest", "oldest"}));
  request.filter.oldest_first = sort == "oldest";
  return request;
}

Result<Uuid> id_of(Context& context, const Call& call) {
  return ops::whole_id(context.store, call.path.at("id"), "id");
}

Result<Generation> generation_of(const Call& call) {
  return parse_generation(call.path.at("generation"), "generation");
}

}  // namespace sluice::http
