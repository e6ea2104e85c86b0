#include "http/claims_body.hpp"

#include <utility>

#include "core/failure.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"
#include "ops/arguments.hpp"

namespace sluice::http {
namespace {

using ops::Arguments;
using ops::Parameter;
using std::chrono::seconds;
using Type = Parameter::Type;

constexpr std::int64_t kLongestDelay = std::int64_t{365} * 24 * 3600;
constexpr std::size_t kMessageBytes = 4096;  // no more of it is kept

// What a language throws may hold anything, and none of it goes into a jsonb as it is.
constexpr json::Limits kAnyText{.any_text = true};

Parameter bounded(std::string_view name, std::string_view description, const ClaimBounds& bounds) {
  return {name, Type::integer, false, description, bounds.least, bounds.most, bounds.standard};
}

Parameter ttl_parameter() {
  return bounded("ttl_seconds", "a claim that is not renewed for this long expires", kClaimTtlSeconds);
}

const std::vector<Parameter>& question_parameters() {
  static const std::vector<Parameter> parameters{
      {"handler", Type::text, true, "the handler's name: scope.name"},
      {"event_types", Type::texts, false, "what it subscribes to; needed the first time"},
      {"target", Type::text, false, "the context it serves; none: every target"},
      bounded("limit", "the most events to claim", kClaimLimit),
      bounded("wait_seconds", "how long to wait for something", kClaimWaitSeconds),
      ttl_parameter(),
      {"worker", Type::text, false, "a name for this worker, in lists and logs"}};
  return parameters;
}

const std::vector<Parameter>& settlement_parameters() {
  static const std::vector<Parameter> parameters{
      {"claim", Type::text, true, "as it was given with the event"},
      {"outcome", Type::text, true, "handled, failed, deferred or released"},
      {"error_class", Type::any_text, false, "failed: the class of the error, like TimeoutError"},
      {"message", Type::any_text, false, "failed: what happened"},
      {"terminal", Type::boolean, false, "failed: not worth another attempt"},
      {"retry_after_seconds", Type::integer, false, "failed or deferred: not before", 0, kLongestDelay},
      {"until", Type::text, false, "deferred: not before this time"}};
  return parameters;
}

Error no_claim(const std::string& field) {
  return invalid(field, field + " is no claim of this store: give it back as it came with the event");
}

// The failure makes of it what is filed: cut at a character, control characters made visible, Net::ReadTimeout as
// ReadTimeout.
Outcome read_failure(const Arguments& report) {
  std::string error_class = report.text("error_class").value_or("");
  if (error_class.find_first_not_of(" \t\r\n") == std::string::npos) error_class = error_class::unknown;
  const std::string message{utf8::prefix(report.text("message").value_or(""), kMessageBytes)};
  Outcome outcome = Outcome::failed({std::move(error_class), message, {}, report.flag("terminal")});
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
  const auto members = json::members(json, "body", kAnyText);
  if (!members) return members.error();
  if (members->size() != 1 || members->front().name != name) {
    return invalid("body", "the body must be an object with one member, the list `" + std::string{name} + "`");
  }
  auto elements = json::elements(members->front().value, name, kAnyText);
  if (elements && elements->empty()) return invalid(std::string{name}, std::string{name} + " must not be empty");
  if (elements && elements->size() > kMostClaims) {
    return invalid(std::string{name},
                   std::string{name} + " must have at most " + std::to_string(kMostClaims) + " elements");
  }
  return elements;
}

// Its member, whatever else is wrong with it.
std::optional<std::string> claim_of(std::string_view settlement) {
  const auto members = json::members(settlement, "settlement", kAnyText);
  if (!members) return std::nullopt;
  for (const auto& [name, value] : *members) {
    if (name != "claim") continue;
    auto text = json::string_value(value, name, kAnyText);
    if (text) return *std::move(text);
  }
  return std::nullopt;
}

// The outer error is the store's, the inner one the sender's.
Result<Result<runtime::PullSettlement>> read_settlement(std::string_view json, Timestamp now,
                                                        runtime::PullTokens& tokens) {
  using Read = Result<runtime::PullSettlement>;
  if (!json.starts_with('{')) return Read{invalid("", "a settlement must be an object")};
  const auto report = Arguments::read(settlement_parameters(), json, kAnyText);
  if (!report) return Read{report.error()};
  auto token = tokens.read(*report->text("claim"));
  if (!token) return std::move(token).error();
  if (!*token) return Read{no_claim("claim")};
  auto outcome = read_outcome(*report, now);
  if (!outcome) return Read{std::move(outcome).error()};
  return Read{runtime::PullSettlement{**std::move(token), *std::move(outcome)}};
}

}  // namespace

Result<runtime::PullQuestion> read_question(std::string_view json, std::string_view unnamed) {
  const auto body = Arguments::read(question_parameters(), json);
  if (!body) return body.error();
  runtime::PullQuestion question;
  question.subscription.handler_name = *body->text("handler");
  question.subscription.event_types = body->texts("event_types");
  question.subscription.context = body->text("target");
  question.worker = body->text("worker").value_or(std::string{unnamed});
  question.limit = static_cast<int>(*body->integer("limit"));
  question.wait = seconds{*body->integer("wait_seconds")};
  question.ttl = seconds{*body->integer("ttl_seconds")};
  return question;
}

Result<std::vector<SettleEntry>> read_settlements(std::string_view json, Timestamp now, runtime::PullTokens& tokens) {
  const auto elements = list_of(json, "settlements");
  if (!elements) return elements.error();
  std::vector<SettleEntry> entries;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    auto read = read_settlement((*elements)[i], now, tokens);
    if (!read) return std::move(read).error();
    SettleEntry entry{claim_of((*elements)[i]), *std::move(read)};
    if (!entry.settlement) {
      entry.settlement = inside(std::move(entry.settlement).error(), "settlements[" + std::to_string(i) + "]");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<HeartbeatBody> read_heartbeat(std::string_view json, runtime::PullTokens& tokens) {
  const auto report = Arguments::read({{"claims", Type::texts, true, "the claims to keep"}, ttl_parameter()}, json);
  if (!report) return report.error();
  HeartbeatBody body;
  body.claims = report->texts("claims");
  body.ttl = seconds{*report->integer("ttl_seconds")};
  if (body.claims.size() > kMostClaims) {
    return invalid("claims", "claims must have at most " + std::to_string(kMostClaims) + " elements");
  }
  for (std::size_t i = 0; i < body.claims.size(); ++i) {
    auto token = tokens.read(body.claims[i]);
    if (!token) return std::move(token).error();
    if (!*token) body.refusals.emplace(i, no_claim("claims[" + std::to_string(i) + "]"));
    body.tokens.push_back(*std::move(token));
  }
  return body;
}

}  // namespace sluice::http
