#include "http/routes_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "core/utf8.hpp"
#include "http/claims_body.hpp"
#include "mcp/message.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::http {
namespace {

using namespace std::chrono_literals;
using mcp::text_member;
using testing::HasSubstr;

class ClaimRoutes : public testing::Test {
 protected:
  Response ask(const std::string& path, std::string body, std::string content_type = "application/json") {
    Call call{{}, caller_, {}};
    call.request.body = std::move(body);
    call.request.peer = peer_;
    call.request.headers.emplace("content-type", std::move(content_type));
    for (const Route& route : routes_) {
      if (route.pattern != path) continue;
      if (route.answer) return route.answer(call);
      std::optional<Response> answer;
      route.later(call, [&](Response response) { answer = std::move(response); });
      pulling_.step();
      return answer.value_or(Response{});
    }
    return {};
  }
  /// The claim of the one event that is handed out.
  std::string claim() {
    const Response answer = ask("/v1/claims", R"({"handler":"billing.mailer","event_types":["*"],"wait_seconds":0})");
    const auto claims = json::elements(*mcp::member(answer.body, "claims"), "claims");
    return claims->empty() ? "" : text_member(claims->front(), "claim").value_or("");
  }
  Response settle(const std::string& members) {
    return ask("/v1/claims/settle", R"({"settlements":[{)" + members + "}]}");
  }
  /// What is said of one settlement.
  std::string verdict(const Response& answer, std::size_t position = 0) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto settled = json::elements(mcp::member(answer.body, "settled").value_or("[]"), "settled");
    return settled && settled->size() > position ? std::string{(*settled)[position]} : "{}";
  }
  std::string refused(const std::string& members) {
    const std::string said = verdict(settle(members));
    EXPECT_EQ(text_member(said, "result"), "invalid") << said;
    EXPECT_NE(text_member(said, "detail").value_or(""), "") << said;
    return text_member(said, "field").value_or("");
  }
  std::string settled_as(const std::string& claim, const std::string& error_class, const std::string& message) {
    EXPECT_EQ(
        text_member(verdict(settle(R"("claim":")" + claim + R"(","outcome":"failed","terminal":true,"error_class":)" +
                                   error_class + R"(,"message":)" + message)),
                    "result"),
        "settled");
    return store_.events().back().last_error.value_or("");
  }

  std::string peer_ = "127.0.0.1:51234";
  Caller caller_{Role::operator_, "test"};
  test::EmbeddedStore store_;
  runtime::PullPresence presence_{store_.whole(), kFirstGeneration};
  runtime::PullSettling settling_{store_.whole(), presence_, {}, {{}, [] { return 0.5; }}};
  runtime::PullClaims pulling_{store_.whole(), settling_, presence_, {}};
  std::vector<Route> routes_ = claim_routes({pulling_, settling_});
};

TEST_F(ClaimRoutes, AnEventIsClaimedAndSettled) {
  store_.publish(test::id_of(1));
  const Response answer = ask("/v1/claims", R"({"handler":"billing.mailer","event_types":["*"],"wait_seconds":0})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(test::id_of(1).to_string()));
  EXPECT_THAT(answer.body, HasSubstr(R"("attempts":0)"));
  const auto claims = json::elements(*mcp::member(answer.body, "claims"), "claims");
  const std::string token = *text_member(claims->front(), "claim");
  const Response settled = settle(R"("claim":")" + token + R"(","outcome":"handled")");
  EXPECT_EQ(settled.status, 200) << settled.body;
  EXPECT_THAT(settled.body, HasSubstr(R"("result":"settled","status":"delivered")"));
  EXPECT_EQ(store_.events().at(0).status, Status::delivered);
  EXPECT_THAT(settle(R"("claim":")" + token + R"(","outcome":"handled")").body, HasSubstr(R"("result":"fenced")"));
}

TEST_F(ClaimRoutes, NothingToClaimIsAnEmptyList) { EXPECT_EQ(claim(), ""); }

TEST_F(ClaimRoutes, AFailureTellsItsClass) {
  store_.publish(test::id_of(1));
  const Response settled = settle(R"("claim":")" + claim() +
                                  R"(","outcome":"failed","error_class":"SmtpError","message":"no","terminal":true)");
  EXPECT_THAT(settled.body, HasSubstr(R"("status":"failed")"));
  EXPECT_EQ(store_.events().at(0).last_error, "SmtpError: no");
}

TEST_F(ClaimRoutes, ADeferralCountsFromTheStoresClock) {
  store_.publish(test::id_of(1));
  settle(R"("claim":")" + claim() + R"(","outcome":"deferred","retry_after_seconds":90)");
  EXPECT_EQ(store_.events().at(0).retry_after, store_.now + 90s);
}

TEST_F(ClaimRoutes, AHeartbeatTellsWhatIsLost) {
  store_.publish(test::id_of(1));
  const std::string token = claim();
  const std::string body = R"({"claims":[")" + token + R"("],"ttl_seconds":60})";
  EXPECT_EQ(ask("/v1/claims/heartbeat", body).body, R"({"lost":[]})");
  settle(R"("claim":")" + token + R"(","outcome":"released")");
  EXPECT_THAT(ask("/v1/claims/heartbeat", body).body, HasSubstr(token));
}

TEST_F(ClaimRoutes, TheErrorNamesTheMember) {
  store_.publish(test::id_of(1));
  const std::string token = R"("claim":")" + claim() + '"';
  EXPECT_EQ(refused(R"("outcome":"handled")"), "settlements[0].claim");
  EXPECT_EQ(refused(R"("claim":"x","outcome":"handled")"), "settlements[0].claim");
  EXPECT_EQ(refused(token), "settlements[0].outcome");
  EXPECT_EQ(refused(token + R"(,"outcome":"done")"), "settlements[0].outcome");
  EXPECT_EQ(refused(token + R"(,"outcome":"failed","error_class":7)"), "settlements[0].error_class");
  EXPECT_EQ(refused(token + R"(,"outcome":"deferred")"), "settlements[0].until");
  EXPECT_EQ(refused(token + R"(,"outcome":"deferred","until":"soon")"), "settlements[0].until");
  EXPECT_EQ(refused(token + R"(,"outcome":"handled","extra":1)"), "settlements[0].extra");
  const auto field = [&](const std::string& path, std::string body) {
    return text_member(ask(path, std::move(body)).body, "field").value_or("");
  };
  EXPECT_EQ(field("/v1/claims", R"({"handler":"mailer"})"), "handler");
  EXPECT_EQ(field("/v1/claims", R"({"handler":"a.b","limit":0})"), "limit");
  EXPECT_EQ(field("/v1/claims", R"({"handler":"a.b","wait_seconds":61})"), "wait_seconds");
  EXPECT_EQ(field("/v1/claims", R"({"handler":"a.new","wait_seconds":0})"), "event_types");
  EXPECT_EQ(field("/v1/claims/settle", R"({"settlements":[]})"), "settlements");
  EXPECT_EQ(field("/v1/claims/settle", R"({})"), "body");
  EXPECT_EQ(field("/v1/claims/heartbeat", R"({"claims":7})"), "claims");
}

TEST_F(ClaimRoutes, OneThatIsWrongDoesNotHoldUpTheOthers) {
  store_.publish(test::id_of(1));
  store_.publish(test::id_of(2));
  const auto claimed = ask("/v1/claims", R"({"handler":"billing.mailer","event_types":["*"],"wait_seconds":0})");
  const auto claims = json::elements(*mcp::member(claimed.body, "claims"), "claims");
  ASSERT_EQ(claims->size(), 2U);
  const std::string first = *text_member((*claims)[0], "claim");
  const std::string second = *text_member((*claims)[1], "claim");
  const Response answer =
      ask("/v1/claims/settle", R"({"settlements":[{"claim":"x","outcome":"handled"},{"claim":")" + first +
                                   R"(","outcome":"handled"},7,{"claim":")" + second +
                                   R"(","outcome":"gone"},{"claim":")" + first + R"(","outcome":"handled"}]})");
  EXPECT_EQ(text_member(verdict(answer, 0), "claim"), "x");
  EXPECT_EQ(text_member(verdict(answer, 0), "field"), "settlements[0].claim");
  EXPECT_EQ(text_member(verdict(answer, 1), "result"), "settled");
  EXPECT_EQ(text_member(verdict(answer, 2), "result"), "invalid");
  EXPECT_EQ(mcp::member(verdict(answer, 2), "claim"), "null");
  EXPECT_EQ(text_member(verdict(answer, 3), "field"), "settlements[3].outcome");
  EXPECT_EQ(text_member(verdict(answer, 4), "result"), "repeated");
  EXPECT_EQ(store_.events().at(0).status == Status::delivered || store_.events().at(1).status == Status::delivered,
            true);
}

TEST_F(ClaimRoutes, TakesWhatLanguagesThrow) {
  const std::vector<std::array<std::string, 3>> thrown{
      {R"("Net::ReadTimeout")", R"("x")", "ReadTimeout: x"},
      {R"("std::runtime_error")", R"("x")", "runtime_error: x"},
      {R"("App\\Exceptions\\Oops")", R"("x")", R"(App\Exceptions\Oops: x)"},
      {R"("ERR-42")", R"("x")", "ERR-42: x"},
      {R"("a: b")", R"("x")", "a_ b: x"},
      {R"("")", R"("")", "Error: "},
      {R"("KeyError")", R"("a\u0000b\n\u001b[1m")", R"(KeyError: a\x00b\n\x1b[1m)"},
      {R"("KeyError")", R"("\ud800 and \udc80")", "KeyError: \xEF\xBF\xBD and \xEF\xBF\xBD"}};
  for (std::size_t i = 0; i < thrown.size(); ++i) {
    store_.publish(test::id_of(static_cast<int>(i) + 1));
    const std::string token = claim();
    ASSERT_NE(token, "");
    settled_as(token, thrown[i][0], thrown[i][1]);
    EXPECT_EQ((*store_).get_event(test::id_of(static_cast<int>(i) + 1))->last_error, thrown[i][2]);
  }
}

TEST_F(ClaimRoutes, ALongMessageIsCutAtACharacter) {
  store_.publish(test::id_of(1));
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "\xC3\xA4";
  settled_as(claim(), '"' + many + '"', '"' + many + '"');
  const std::string kept = (*store_).get_event(test::id_of(1))->last_error.value_or("");
  EXPECT_LE(kept.size(), 4096U);
  EXPECT_GT(kept.size(), 4000U);
  EXPECT_TRUE(utf8::is_valid(kept));
}

TEST_F(ClaimRoutes, AForgedClaimSettlesNothing) {
  store_.publish(test::id_of(1));
  const auto held = settling_.tokens().read(claim());
  ASSERT_TRUE(held && *held);
  const std::string forged = runtime::token_text(**held, "guessed");
  EXPECT_EQ(refused(R"("claim":")" + forged + R"(","outcome":"handled")"), "settlements[0].claim");
  const Response kept = ask("/v1/claims/heartbeat", R"({"claims":[")" + forged + R"("],"ttl_seconds":60})");
  EXPECT_THAT(kept.body, HasSubstr(R"("lost":[")" + forged + '"'));
  EXPECT_THAT(kept.body, HasSubstr(R"("field":"claims[0]")"));
  EXPECT_EQ(store_.events().at(0).status, Status::in_flight);
  EXPECT_EQ((*store_).workers(1h)->size(), 1U) << "nobody was listed for it";
}

TEST_F(ClaimRoutes, AWorkerThatDoesNotNameItselfIsOneFromItsAddress) {
  const auto names = [&] {
    std::set<std::string> found;
    const auto workers = store_->workers(1h);
    for (const auto& worker : *workers) found.insert(worker.identity);
    return found;
  };
  for (const char* peer : {"127.0.0.1:51234", "127.0.0.1:51235", "::1:9", "::1:10"}) {
    peer_ = peer;
    ask("/v1/claims", R"({"handler":"billing.mailer","event_types":["*"],"wait_seconds":0})");
  }
  EXPECT_THAT(names(), testing::UnorderedElementsAre("pull:billing.mailer:127.0.0.1", "pull:billing.mailer:::1"));
  caller_ = {Role::operator_, "alice", true};
  ask("/v1/claims", R"({"handler":"billing.mailer","event_types":["*"],"wait_seconds":0})");
  EXPECT_TRUE(names().contains("pull:billing.mailer:alice@::1"));
}

TEST_F(ClaimRoutes, AnotherMediaTypeIsNotTaken) {
  for (const char* path : {"/v1/claims", "/v1/claims/settle", "/v1/claims/heartbeat"}) {
    EXPECT_EQ(ask(path, "{}", "text/plain").status, 415) << path;
  }
}

TEST(ClaimsBody, SaysWhatIsAskedFor) {
  EXPECT_EQ(read_question(R"({"handler":"a.b"})", "127.0.0.1")->worker, "127.0.0.1");
  const auto question = read_question(
      R"({"handler":"a.b","worker":"w","target":"billing","limit":3,"wait_seconds":7,"ttl_seconds":90})", "");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->worker, "w");
  EXPECT_EQ(question->subscription.context, "billing");
  EXPECT_EQ(question->limit, 3);
  EXPECT_EQ(question->wait, Duration{7s});
  EXPECT_EQ(question->ttl, Duration{90s});
}

}  // namespace
}  // namespace sluice::http
