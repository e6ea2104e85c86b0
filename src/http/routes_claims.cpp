#include "http/routes_claims.hpp"

#include <set>
#include <utility>

#include "core/characters.hpp"
#include "core/json_object.hpp"
#include "http/claims_body.hpp"
#include "http/message.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t kQuestionBytes = std::size_t{64} * 1024;
constexpr std::size_t kReportBytes = std::size_t{8} * 1024 * 1024;  // a thousand settlements with long messages

Response not_json() { return problem(415, "unsupported_media", "send JSON, with Content-Type: application/json"); }

// A connection is no worker: who asks, and from where, stays the same from one request to the next.
std::string unnamed_worker(const Call& call) {
  constexpr std::size_t kLongest = 64;
  const std::string address = call.request.peer.substr(0, call.request.peer.rfind(':'));
  std::string name = call.caller.by_token ? call.caller.name + '@' + address : address;
  for (char& c : name) {
    if (!is_letter(c) && !is_digit(c) && std::string_view{"._:-@[]"}.find(c) == std::string_view::npos) c = '_';
  }
  return name.substr(0, kLongest);
}

std::string to_json(const runtime::PulledEvent& pulled) {
  return JsonObject{}
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
  return json_response(200, JsonObject{}.array("claims", claims).str());
}

void ask(const PullApi& pull, const Call& call, Respond respond) {
  if (media_type(call.request) != "application/json") return respond(not_json());
  auto question = read_question(call.request.body, unnamed_worker(call));
  if (!question) return respond(problem(question.error()));
  pull.asking.ask(*std::move(question),
                  [respond = std::move(respond)](const Result<std::vector<runtime::PulledEvent>>& pulled) {
                    respond(answer_of(pulled));
                  });
}

std::string to_json(const SettleEntry& entry, const runtime::PullVerdict& verdict) {
  JsonObject object;
  object.text("claim", entry.claim);
  if (!entry.settlement) {
    const Error& error = entry.settlement.error();
    return object.text("result", "invalid").text("field", error.field).text("detail", error.message).str();
  }
  object.text("result", name(verdict.kind));
  if (verdict.kind == runtime::PullVerdict::Kind::settled) object.text("status", name(verdict.status));
  return object.str();
}

Response settle(const PullApi& pull, const Call& call) {
  if (media_type(call.request) != "application/json") return not_json();
  const auto now = pull.settling.now();
  if (!now) return problem(now.error());
  const auto entries = read_settlements(call.request.body, *now, pull.settling.tokens());
  if (!entries) return problem(entries.error());
  std::vector<runtime::PullSettlement> settlements;
  for (const SettleEntry& entry : *entries) {
    if (entry.settlement) settlements.push_back(*entry.settlement);
  }
  const auto verdicts = pull.settling.settle(settlements);
  if (!verdicts) return problem(verdicts.error());
  std::vector<std::string> settled;
  settled.reserve(entries->size());
  auto verdict = verdicts->begin();
  for (const SettleEntry& entry : *entries) {
    settled.push_back(to_json(entry, entry.settlement ? *verdict++ : runtime::PullVerdict{}));
  }
  return json_response(200, JsonObject{}.array("settled", settled).str());
}

// What is no claim cannot be kept: its holder had better stop.
Response heartbeat(const PullApi& pull, const Call& call) {
  if (media_type(call.request) != "application/json") return not_json();
  const auto body = read_heartbeat(call.request.body, pull.settling.tokens());
  if (!body) return problem(body.error());
  std::vector<runtime::PullToken> tokens;
  std::vector<std::size_t> places;  // of the tokens in the request
  std::set<std::size_t> lost_places;
  std::vector<std::string> refusals;
  for (std::size_t i = 0; i < body->tokens.size(); ++i) {
    if (!body->tokens[i]) {
      const Error& error = body->refusals.at(i);
      lost_places.insert(i);
      refusals.push_back(
          JsonObject{}.text("claim", body->claims[i]).text("field", error.field).text("detail", error.message).str());
      continue;
    }
    tokens.push_back(*body->tokens[i]);
    places.push_back(i);
  }
  const auto positions = pull.settling.heartbeat(tokens, body->ttl);
  if (!positions) return problem(positions.error());
  for (const std::size_t position : *positions) lost_places.insert(places[position]);
  std::vector<std::string> lost;
  lost.reserve(lost_places.size());
  for (const std::size_t place : lost_places) lost.push_back(body->claims[place]);
  JsonObject answer;
  answer.texts("lost", lost);
  if (!refusals.empty()) answer.array("invalid", refusals);
  return json_response(200, answer.str());
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

std::vector<Route> claim_routes(const PullApi& pull) {
  Route asking = posting("/v1/claims", kQuestionBytes);
  asking.later = [pull](const Call& call, Respond respond) { ask(pull, call, std::move(respond)); };
  Route settling = posting("/v1/claims/settle", kReportBytes);
  settling.answer = [pull](const Call& call) { return settle(pull, call); };
  Route renewing = posting("/v1/claims/heartbeat", kReportBytes);
  renewing.answer = [pull](const Call& call) { return heartbeat(pull, call); };
  return {std::move(asking), std::move(settling), std::move(renewing)};
}

}  // namespace sluice::http
