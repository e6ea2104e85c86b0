#include "http/routes_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "http/claims_body.hpp"
#include "mcp/member.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::http {
namespace {

using namespace std::chrono_literals;
using mcp::text_member;
using testing::HasSubstr;

class ClaimRoutes : public testing::Test {
 protected:
  Response ask(const std::string& path, std::string body, std::string content_type = "application/json") {
    Call call{{}, {Role::operator_, "test"}, {}};
    call.request.body = std::move(body);
    call.request.peer = "127.0.0.1:51234";
    call.request.headers.emplace("content-type", std::move(content_type));
    for (const Route& route : routes_) {
      if (route.pattern != path) continue;
      if (route.answer) return route.answer(call);
      std::optional<Response> answer;
      route.later(call, [&](Response response) { answer = std::move(response); });
      desk_.step();
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
  std::string refused(const std::string& members) { return text_member(settle(members).body, "field").value_or(""); }

  test::EmbeddedStore store_;
  runtime::PullPresence presence_{*store_, kFirstGeneration};
  runtime::PullSettling settling_{*store_, presence_, {}, {{}, [] { return 0.5; }}};
  runtime::PullDesk desk_{*store_, settling_, presence_, {}};
  std::vector<Route> routes_ = claim_routes({desk_, settling_});
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
  EXPECT_EQ(refused(token + R"(,"outcome":"failed","error_class":"a: b")"), "settlements[0].error_class");
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
  EXPECT_EQ(field("/v1/claims/heartbeat", R"({"claims":["x"]})"), "claims[0]");
}

TEST_F(ClaimRoutes, AnotherMediaTypeIsNotTaken) {
  for (const char* path : {"/v1/claims", "/v1/claims/settle", "/v1/claims/heartbeat"}) {
    EXPECT_EQ(ask(path, "{}", "text/plain").status, 415) << path;
  }
}

TEST(ClaimsBody, AWorkerThatDoesNotNameItselfIsItsAddress) {
  EXPECT_EQ(read_question(R"({"handler":"a.b"})", "127.0.0.1:51234")->worker, "127.0.0.1:51234");
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
