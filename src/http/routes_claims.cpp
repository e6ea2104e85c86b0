#include "http/routes_claims.hpp"

#include <utility>

#include "http/claims_body.hpp"
#include "http/media_type.hpp"
#include "ops/json_object.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t kQuestionBytes = std::size_t{64} * 1024;
constexpr std::size_t kReportBytes = std::size_t{8} * 1024 * 1024;  // a thousand settlements with long messages

Response not_json() { return problem(415, "unsupported_media", "send JSON, with Content-Type: application/json"); }

std::string to_json(const runtime::PulledEvent& pulled) {
  return ops::JsonObject{}
      .raw("event", pulled.event.envelope.to_json())
      .text("claim", pulled.token)
      .number("attempts", pulled.event.attempts)
      .text("ordering_key", pulled.event.ordering_key)
      .time("expires_at", pulled.expires_at)
      .str();
}

Response answer_of(const Result<std::vector<runtime::PulledEvent>>& pulled) {
  if (!pulled) return problem(pulled.error());
  std::vector<std::string> claims;
  claims.reserve(pulled->size());
  for (const runtime::PulledEvent& each : *pulled) claims.push_back(to_json(each));
  return json_response(200, ops::JsonObject{}.array("claims", claims).str());
}

void ask(const ClaimsDesk& desk, const Call& call, Respond respond) {
  if (media_type(call.request) != "application/json") return respond(not_json());
  auto question = read_question(call.request.body, call.request.peer);
  if (!question) return respond(problem(question.error()));
  desk.asking.ask(*std::move(question),
                  [respond = std::move(respond)](const Result<std::vector<runtime::PulledEvent>>& pulled) {
                    respond(answer_of(pulled));
                  });
}

Response settle(const ClaimsDesk& desk, const Call& call) {
  if (media_type(call.request) != "application/json") return not_json();
  const auto now = desk.settling.now();
  if (!now) return problem(now.error());
  const auto body = read_settlements(call.request.body, *now);
  if (!body) return problem(body.error());
  const auto verdicts = desk.settling.settle(body->settlements);
  if (!verdicts) return problem(verdicts.error());
  std::vector<std::string> settled;
  settled.reserve(verdicts->size());
  for (std::size_t i = 0; i < verdicts->size(); ++i) {
    const runtime::PullVerdict& verdict = (*verdicts)[i];
    ops::JsonObject object;
    object.text("claim", body->claims[i]).text("result", name(verdict.kind));
    if (verdict.kind == runtime::PullVerdict::Kind::settled) object.text("status", name(verdict.status));
    settled.push_back(object.str());
  }
  return json_response(200, ops::JsonObject{}.array("settled", settled).str());
}

Response heartbeat(const ClaimsDesk& desk, const Call& call) {
  if (media_type(call.request) != "application/json") return not_json();
  const auto body = read_heartbeat(call.request.body);
  if (!body) return problem(body.error());
  const auto positions = desk.settling.heartbeat(body->tokens, body->ttl);
  if (!positions) return problem(positions.error());
  std::vector<std::string> lost;
  lost.reserve(positions->size());
  for (const std::size_t position : *positions) lost.push_back(body->claims[position]);
  return json_response(200, ops::JsonObject{}.texts("lost", lost).str());
}

Route posting(std::string pattern, std::size_t body_limit) {
  Route route;
  route.method = "POST";
  route.pattern = std::move(pattern);
  route.role = Role::operator_;
  route.body_limit = body_limit;
  return route;
}

}  // namespace

std::vector<Route> claim_routes(const ClaimsDesk& desk) {
  Route asking = posting("/v1/claims", kQuestionBytes);
  asking.later = [desk](const Call& call, Respond respond) { ask(desk, call, std::move(respond)); };
  Route settling = posting("/v1/claims/settle", kReportBytes);
  settling.answer = [desk](const Call& call) { return settle(desk, call); };
  Route renewing = posting("/v1/claims/heartbeat", kReportBytes);
  renewing.answer = [desk](const Call& call) { return heartbeat(desk, call); };
  return {std::move(asking), std::move(settling), std::move(renewing)};
}

}  // namespace sluice::http
