#include "http/claims_body.hpp"

#include <algorithm>
#include <utility>

#include "core/json.hpp"
#include "ops/arguments.hpp"

namespace sluice::http {
namespace {

using ops::Arguments;
using ops::Parameter;
using std::chrono::seconds;
using Type = Parameter::Type;

constexpr std::int64_t kLongestTtl = 24 * 3600;
constexpr std::int64_t kShortestTtl = 5;
constexpr std::int64_t kStandardTtl = 60;
constexpr std::int64_t kLongestDelay = 365 * 24 * 3600;

Parameter ttl_parameter() {
  return {"ttl_seconds", Type::integer, false,       "a claim that is not renewed for this long expires",
          kShortestTtl,  kLongestTtl,   kStandardTtl};
}

const std::vector<Parameter>& question_parameters() {
  static const std::vector<Parameter> parameters{
      {"handler", Type::text, true, "the handler's name: scope.name"},
      {"event_types", Type::texts, false, "what it subscribes to; needed the first time"},
      {"target", Type::text, false, "the context it serves; none: every target"},
      {"limit", Type::integer, false, "the most events to claim", 1, 100, 10},
      {"wait_seconds", Type::integer, false, "how long to wait for something", 0, 60, 20},
      ttl_parameter(),
      {"worker", Type::text, false, "a name for this worker, in lists and logs"}};
  return parameters;
}

const std::vector<Parameter>& settlement_parameters() {
  static const std::vector<Parameter> parameters{
      {"claim", Type::text, true, "as it was given with the event"},
      {"outcome", Type::text, true, "handled, failed, deferred or released"},
      {"error_class", Type::text, false, "failed: what kind of error, like TimeoutError"},
      {"message", Type::text, false, "failed: what happened"},
      {"terminal", Type::boolean, false, "failed: not worth another attempt"},
      {"retry_after_seconds", Type::integer, false, "failed or deferred: not before", 0, kLongestDelay},
      {"until", Type::text, false, "deferred: not before this time"}};
  return parameters;
}

bool is_class_name(std::string_view name) {
  constexpr std::size_t kMaxBytes = 128;
  return !name.empty() && name.size() <= kMaxBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

Result<runtime::PullToken> read_token(const std::string& text, const std::string& field) {
  auto token = runtime::parse_pull_token(text);
  if (!token) return invalid(field, field + " is no claim: give it back as it came with the event");
  return *std::move(token);
}

Result<Outcome> read_failure(const Arguments& report) {
  const std::string error_class = report.text("error_class").value_or("Error");
  if (!is_class_name(error_class)) {
    return invalid("error_class", "error_class must be letters, digits, dots and underscores, like TimeoutError");
  }
  Outcome outcome = Outcome::failed({error_class, report.text("message").value_or(""), {}, report.flag("terminal")});
  if (const auto after = report.integer("retry_after_seconds")) outcome.retry_after = seconds{*after};
  return outcome;
}

Result<Outcome> read_deferral(const Arguments& report, Timestamp now) {
  const auto after = report.integer("retry_after_seconds");
  const auto until = report.text("until");
  if (after.has_value() == until.has_value()) {
    return invalid("until", "deferred needs either until or retry_after_seconds");
  }
  if (after) return Outcome::deferred(now + seconds{*after});
  const auto time = parse_iso8601(*until, "until");
  if (!time) return time.error();
  return Outcome::deferred(*time);
}

Result<Outcome> read_outcome(const Arguments& report, Timestamp now) {
  const std::string outcome = *report.text("outcome");
  if (outcome == "handled") return Outcome::handled();
  if (outcome == "released") return Outcome::released();
  if (outcome == "failed") return read_failure(report);
  if (outcome == "deferred") return read_deferral(report, now);
  return invalid("outcome", "outcome must be handled, failed, deferred or released");
}

Error inside(Error error, const std::string& where) {
  error.field = error.field.empty() ? where : where + "." + error.field;
  error.message = error.field + ": " + error.message;
  return error;
}

// The elements of the one list that the object has.
Result<std::vector<std::string_view>> list_of(std::string_view json, std::string_view name) {
  const auto members = json::members(json, "body");
  if (!members) return members.error();
  if (members->size() != 1 || members->front().name != name) {
    return invalid("body", "the body must be an object with one member, the list `" + std::string{name} + "`");
  }
  auto elements = json::elements(members->front().value, name);
  if (elements && elements->empty()) return invalid(std::string{name}, std::string{name} + " must not be empty");
  if (elements && elements->size() > kMostClaims) {
    return invalid(std::string{name},
                   std::string{name} + " must have at most " + std::to_string(kMostClaims) + " elements");
  }
  return elements;
}

}  // namespace

Result<runtime::PullQuestion> read_question(std::string_view json, std::string_view peer) {
  const auto body = Arguments::read(question_parameters(), json);
  if (!body) return body.error();
  runtime::PullQuestion question;
  question.subscription.handler_name = *body->text("handler");
  question.subscription.event_types = body->texts("event_types");
  question.subscription.context = body->text("target");
  question.worker = body->text("worker").value_or(std::string{peer});
  question.limit = static_cast<int>(*body->integer("limit"));
  question.wait = seconds{*body->integer("wait_seconds")};
  question.ttl = seconds{*body->integer("ttl_seconds")};
  return question;
}

Result<SettleBody> read_settlements(std::string_view json, Timestamp now) {
  const auto elements = list_of(json, "settlements");
  if (!elements) return elements.error();
  SettleBody body;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const std::string where = "settlements[" + std::to_string(i) + "]";
    const auto report = Arguments::read(settlement_parameters(), (*elements)[i]);
    if (!report) return inside(report.error(), where);
    auto token = read_token(*report->text("claim"), "claim");
    if (!token) return inside(std::move(token).error(), where);
    auto outcome = read_outcome(*report, now);
    if (!outcome) return inside(std::move(outcome).error(), where);
    body.settlements.push_back({*std::move(token), *std::move(outcome)});
    body.claims.push_back(*report->text("claim"));
  }
  return body;
}

Result<HeartbeatBody> read_heartbeat(std::string_view json) {
  const auto report = Arguments::read({{"claims", Type::texts, true, "the claims to keep"}, ttl_parameter()}, json);
  if (!report) return report.error();
  HeartbeatBody body;
  body.claims = report->texts("claims");
  body.ttl = seconds{*report->integer("ttl_seconds")};
  if (body.claims.size() > kMostClaims) {
    return invalid("claims", "claims must have at most " + std::to_string(kMostClaims) + " elements");
  }
  for (std::size_t i = 0; i < body.claims.size(); ++i) {
    auto token = read_token(body.claims[i], "claims[" + std::to_string(i) + "]");
    if (!token) return std::move(token).error();
    body.tokens.push_back(*std::move(token));
  }
  return body;
}

}  // namespace sluice::http
