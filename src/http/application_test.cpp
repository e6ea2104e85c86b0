#include "http/application.hpp"

#include <gtest/gtest.h>

#include "http/reading.hpp"

namespace sluice::http {
namespace {

class ApplicationTest : public testing::Test {
 protected:
  static Router routes() {
    Router router;
    const auto hello = [](const Call& call) { return json_response(200, R"({"name":")" + call.caller.name + "\"}"); };
    router.add({"GET", "/v1/hello", Role::viewer, 0, hello, {}});
    router.add({"POST", "/v1/change", Role::operator_, 100, hello, {}});
    const auto tell = [](const Call&) { return json_response(200, '"' + std::string(5000, 'x') + '"'); };
    router.add({"GET", "/v1/long", Role::viewer, 0, tell, {}});
    router.add({"POST", "/v1/long", Role::operator_, 100, tell, {}});
    router.add({"GET", "/healthz", Role::anyone, 0, hello, {}});
    router.add({"GET", "/v1/later", Role::viewer, 0, {}, [](const Call&, const Respond& respond) {
                  respond(json_response(202, "{}"));
                }});
    return router;
  }

  Response ask(const std::string& method, const std::string& target, Headers headers = {}) {
    headers.emplace("host", "localhost:7311");
    Request request{method, {}, {}, std::move(headers), {}, {}};
    auto admission = application.admit(request, target);
    if (admission.refusal) return *admission.refusal;
    Response answered;
    application.handle(std::move(request), std::move(admission),
                       [&](Response response) { answered = std::move(response); });
    return answered;
  }
  static std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "(none)";
  }

  bool busy = false;
  std::vector<std::string> served;
  AccessRules rules{{{"alice", Role::viewer, crypto::sha256("look")}, {"bob", Role::operator_, crypto::sha256("act")}},
                    "root@box",
                    true,
                    {},
                    false};
  Headers look{{"authorization", "Bearer look"}};
  Headers act{{"authorization", "Bearer act"}};
  Application application{
      routes(),
      Access{rules},
      {"/ops",
       [this](const std::function<void()>& work) {
         if (!busy) work();
         return !busy;
       },
       [this](const Served& one) { served.push_back(std::string{one.pattern} + ' ' + std::to_string(one.status)); },
       {}}};
};

TEST_F(ApplicationTest, AnswersByPatternBelowThePrefix) {
  EXPECT_EQ(ask("GET", "/ops/v1/hello", look).body, R"({"name":"alice"})");
  EXPECT_EQ(ask("GET", "/v1/hello", look).status, 404);
  EXPECT_EQ(ask("GET", "/ops/v1/nothing", look).status, 404);
  EXPECT_EQ(served, std::vector<std::string>{"/v1/hello 200"});
}

TEST_F(ApplicationTest, LargeAnswersToReadersArePackedForWhoTakesIt) {
  Headers packed = look;
  packed.emplace("accept-encoding", "gzip, br");
  const Response whole = ask("GET", "/ops/v1/long", look);
  EXPECT_EQ(header(whole, "Content-Encoding"), "(none)");
  EXPECT_EQ(header(whole, "Vary"), "Accept-Encoding");
  const Response small = ask("GET", "/ops/v1/long", packed);
  EXPECT_EQ(header(small, "Content-Encoding"), "gzip");
  EXPECT_LT(small.body.size(), whole.body.size() / 10);
  EXPECT_EQ(header(small, "ETag"), "W/" + header(whole, "ETag"));
  packed.emplace("if-none-match", header(small, "ETag"));
  EXPECT_EQ(ask("GET", "/ops/v1/long", packed).status, 304);
  EXPECT_EQ(header(ask("GET", "/ops/v1/hello", packed), "Content-Encoding"), "(none)") << "it fits into one packet";
  Headers change = act;
  change.emplace("accept-encoding", "gzip");
  EXPECT_EQ(header(ask("POST", "/ops/v1/long", change), "Content-Encoding"), "(none)")
      << "it may carry a token of a claim";
}

TEST_F(ApplicationTest, ATokenIsNeededAndItsRoleCounts) {
  const Response nobody = ask("GET", "/ops/v1/hello");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(header(nobody, "WWW-Authenticate"), "Bearer realm=\"sluice\"");
  EXPECT_EQ(ask("POST", "/ops/v1/change", look).status, 403);
  EXPECT_EQ(ask("POST", "/ops/v1/change", act).status, 200);
  EXPECT_EQ(ask("GET", "/ops/healthz").status, 200);
}

TEST_F(ApplicationTest, NamesAndOriginsAreChecked) {
  EXPECT_EQ(ask("GET", "/ops/v1/hello", {{"host", "evil.example"}, {"authorization", "Bearer look"}}).status, 421);
  EXPECT_EQ(ask("GET", "/ops/healthz", {{"host", "10.1.2.3:7311"}}).status, 200) << "a probe knows no name";
  EXPECT_EQ(ask("POST", "/ops/v1/change", {{"origin", "http://evil.example"}, {"authorization", "Bearer act"}}).status,
            403);
}

TEST_F(ApplicationTest, ABodyIsNotUnpacked) {
  for (const char* coding : {"gzip", "GZIP", "br", "gzip, identity", "deflate"}) {
    Headers headers = act;
    headers.emplace("content-encoding", coding);
    const Response response = ask("POST", "/ops/v1/change", headers);
    EXPECT_EQ(response.status, 415) << coding;
    EXPECT_EQ(header(response, "Accept-Encoding"), "identity");
  }
  Headers plain = act;
  plain.emplace("content-encoding", "identity");
  EXPECT_EQ(ask("POST", "/ops/v1/change", plain).status, 200);
}

TEST_F(ApplicationTest, AKnownPathTellsItsMethods) {
  const Response response = ask("DELETE", "/ops/v1/change", act);
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(header(response, "Allow"), "POST");
}

TEST_F(ApplicationTest, WhatIsKnownIsNotSentAgain) {
  const Response first = ask("GET", "/ops/v1/hello", look);
  Headers again = look;
  again.emplace("if-none-match", header(first, "ETag"));
  const Response second = ask("GET", "/ops/v1/hello", again);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
  again = act;
  again.emplace("if-none-match", header(first, "ETag"));
  EXPECT_EQ(ask("GET", "/ops/v1/hello", again).status, 200) << "another body, another tag";
}

TEST_F(ApplicationTest, EveryAnswerIsDressed) {
  for (const Response& response :
       {ask("GET", "/ops/v1/hello", look), ask("GET", "/ops/v1/hello"), ask("GET", "/ops/v1/later", look)}) {
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(response, "Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'");
  }
  EXPECT_EQ(header(ask("POST", "/ops/v1/change", act), "Cache-Control"), "no-store");
}

TEST_F(ApplicationTest, TooManyAtOnceAreTurnedAway) {
  busy = true;
  const Response response = ask("GET", "/ops/v1/hello", look);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(header(response, "Retry-After"), "1");
}

TEST(Problem, CarriesWhatAnErrorKnows) {
  Error error = invalid("count", "count must be 7");
  error.hint = "look again";
  const Response response = problem(error);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",)"
                           R"("detail":"count must be 7","field":"count","hint":"look again","retry":"never"})");
  EXPECT_EQ(problem(Error{ErrorCode::conflict, Retry::never, "moved", {}, {}}).status, 409);
  EXPECT_EQ(problem(Error{ErrorCode::unavailable, Retry::safe, "away", {}, {}}).status, 503);
  EXPECT_EQ(problem(Error{ErrorCode::internal, Retry::never, "odd", {}, {}}).status, 500);
}

TEST(ChangingRoute, ABodyThatSaysNothingNeedsNoContentType) {
  const auto refused = [](const std::string& body, const std::string& type) {
    Call call;
    call.request.body = body;
    if (!type.empty()) call.request.headers.emplace("content-type", type);
    const auto refusal = refuse_media(call);
    return refusal ? refusal->status : 0;
  };
  const std::string form = "application/x-www-form-urlencoded";
  EXPECT_EQ(refused("", ""), 0);
  EXPECT_EQ(refused("{}", form), 0);
  EXPECT_EQ(refused(" { }\n", form), 0);
  EXPECT_EQ(refused(R"({"reason":"x"})", "application/json; charset=utf-8"), 0);
  EXPECT_EQ(refused(R"({"reason":"x"})", form), 415);
  EXPECT_EQ(refused(R"({"reason":"x"})", ""), 415);
}

}  // namespace
}  // namespace sluice::http
