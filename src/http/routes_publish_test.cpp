#include "http/routes_publish.hpp"

#include <gmock/gmock.h>

#include "core/json.hpp"
#include "http/publish_fixture.hpp"

namespace sluice::http {
namespace {

using testing::HasSubstr;

constexpr const char* kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

Request a_request(std::string content_type, std::string body, Headers headers = {}) {
  Request request;
  request.method = "POST";
  request.path = "/v1/events";
  request.headers = std::move(headers);
  if (!content_type.empty()) request.headers.emplace("content-type", std::move(content_type));
  request.body = std::move(body);
  return request;
}

class PublishRoute : public PublishFixture {
 protected:
  Response post(std::string content_type, std::string body, Headers headers = {}) {
    return ask(routes_, a_request(std::move(content_type), std::move(body), std::move(headers)));
  }
  Response post(std::string body) { return post("application/json", std::move(body)); }

  std::vector<Route> routes_ = publish_routes(endpoint_);
};

TEST_F(PublishRoute, OneEventIsStoredAndToldAsTheCommandLineTellsIt) {
  const Response answer = post(R"({"type":"demo.hello","source":"demo","payload":{"n":1}})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(text_of(answer, "outcome"), "published");
  const auto events = store_.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(text_of(answer, "event_id"), events[0].envelope.event_id().to_string());
  EXPECT_EQ(events[0].envelope.payload(), R"({"n":1})");
  EXPECT_EQ(events[0].generation, 7);
  EXPECT_EQ(events[0].channel, "outbox_gen_7");
  EXPECT_THAT(log_, HasSubstr("event published"));
}

// Names and short texts are read once more when their value is taken; a payload is not.
TEST_F(PublishRoute, APayloadIsReadOnceOnItsWayIn) {
  constexpr std::size_t kEvents = 10;
  constexpr std::size_t kShortTexts = 100;
  const std::string payload = R"({"text":")" + std::string(900, 'x') + R"("})";
  const std::string own = R"({"type":"demo.hello","source":"demo","payload":)" + payload + "}";
  const std::string cloud =
      R"({"specversion":"1.0","id":"1","source":"demo","type":"demo.hello","data":)" + payload + "}";
  const auto many = [](const std::string& one) {
    std::string list = one;
    for (std::size_t i = 1; i < kEvents; ++i) list += "," + one;
    return "[" + list + "]";
  };
  const auto expect_once = [&](const std::string& media, const std::string& body, std::size_t events) {
    const std::size_t before = json::bytes_read();
    const Response answer = post(media, body);
    const std::size_t read = json::bytes_read() - before;
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_GE(read, body.size());
    EXPECT_LE(read, body.size() + events * kShortTexts) << media << " " << body.substr(0, 40);
  };
  expect_once("application/json", own, 1);
  expect_once("application/json", R"({"events":)" + many(own) + "}", kEvents);
  expect_once("application/cloudevents+json", cloud, 1);
  expect_once("application/cloudevents-batch+json", many(cloud), kEvents);
}

TEST_F(PublishRoute, APayloadThatCannotBeStoredIsRefusedWhateverItCameIn) {
  std::string deep = "1";
  for (int level = 0; level < 70; ++level) deep = R"({"a":)" + deep + "}";
  const std::pair<std::string, std::string> kRefused[]{
      {R"({"a":1,"a":2})", R"(payload has the member \"a\" twice)"},
      {R"({"n":1e999999})", "payload cannot be stored at line 1, column 6"},
      {R"({"n":1e2000})", "with its numbers written out"},
      {deep, "nested too deeply"},
      {"[1]", "payload must be a JSON object"},
  };
  for (const auto& [payload, problem] : kRefused) {
    const std::string own = R"({"type":"demo.hello","source":"demo","payload":)" + payload + "}";
    const std::string cloud =
        R"({"specversion":"1.0","id":"1","source":"demo","type":"demo.hello","data":)" + payload + "}";
    const std::pair<const char*, std::string> kBodies[]{{"application/json", own},
                                                        {"application/json", R"({"events":[)" + own + "]}"},
                                                        {"application/cloudevents+json", cloud},
                                                        {"application/cloudevents-batch+json", "[" + cloud + "]"}};
    for (const auto& [media, body] : kBodies) {
      const Response answer = post(media, body);
      EXPECT_EQ(answer.status, 400) << media << answer.body;
      EXPECT_THAT(answer.body, HasSubstr(problem)) << media;
    }
  }
  EXPECT_TRUE(store_.events().empty());
}

TEST_F(PublishRoute, TheSameIdTwiceIsOneEvent) {
  const std::string body =
      R"({"type":"demo.hello","source":"demo","event_id":"01890a5d-ac96-774b-bcce-b302099a8057","generation":3})";
  post(body);
  const Response again = post(body);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(text_of(again, "outcome"), "duplicate");
  ASSERT_EQ(store_.events().size(), 1U);
  EXPECT_EQ(store_.events()[0].generation, 3);
}

TEST_F(PublishRoute, ADuplicateIsToldAsItIsStored) {
  const auto body = [](const std::string& n) {
    return R"({"type":"demo.hello","source":"demo","event_id":"01890a5d-ac96-774b-bcce-b302099a8057","payload":{"n":)" +
           n + R"(},"ordering_key":"k)" + n + "\"}";
  };
  post(body("1"));
  const Response again = post(body("2"));
  EXPECT_EQ(text_of(again, "outcome"), "duplicate");
  EXPECT_EQ(mcp::member(again.body, "payload"), R"({"n":1})");
  EXPECT_EQ(text_of(again, "ordering_key"), "k1");
  const Response list = post(R"({"events":[{"type":"a.b","source":"demo"},)" + body("3") + "]}");
  EXPECT_EQ(list.status, 201) << list.body;
  EXPECT_THAT(list.body, HasSubstr(R"("payload":{"n":1})"));
  EXPECT_THAT(list.body, testing::Not(HasSubstr(R"("n":3)")));
  faulty_.fail_verb("get_event", {ErrorCode::unavailable, Retry::safe, "away", {}, {}});
  const Response away = post(body("4"));
  EXPECT_EQ(away.status, 503);
  EXPECT_EQ(text_of(away, "retry"), "safe");
}

TEST_F(PublishRoute, ManyAreStoredInOneCallAllOrNothing) {
  const int before = faulty_.calls();
  const Response answer = post(R"({"events":[{"type":"a.b","source":"demo"},{"type":"a.c","source":"demo"}]})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("count":2)"));
  EXPECT_EQ(faulty_.calls() - before, 1);
  const Response bad = post(R"({"events":[{"type":"a.b","source":"demo"},{"type":"a.c","source":"Demo"}]})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(text_of(bad, "field"), "events[1].source");
  EXPECT_EQ(store_.events().size(), 2U);
}

TEST_F(PublishRoute, TheErrorNamesTheField) {
  const auto field = [&](std::string body) { return text_of(post(std::move(body)), "field"); };
  EXPECT_EQ(field(R"({"source":"demo"})"), "event_type");
  EXPECT_EQ(field(R"({"type":"a.b"})"), "source");
  EXPECT_EQ(field(R"({"type":"a.b","source":"demo","payload":[1]})"), "payload");
  EXPECT_EQ(field(R"({"type":"a.b","source":"demo","trace_context":"x"})"), "trace_context");
  EXPECT_EQ(field(R"({"events":[{"type":"a.b","source":"demo","payload":7}]})"), "events[0].payload");
  EXPECT_EQ(field(R"({"events":[7]})"), "events[0]");
  EXPECT_EQ(field(R"({"events":[]})"), "events");
  EXPECT_EQ(field("{"), "body");
  EXPECT_EQ(field(R"({"type":"a.b","source":"demo","payload":{"x":")" + std::string(2000, 'x') + R"("}})"), "payload");
  EXPECT_TRUE(store_.events().empty());
}

TEST_F(PublishRoute, TooManyEventsAreRefused) {
  std::string body = R"({"events":[{"type":"a.b","source":"demo"})";
  for (std::size_t i = 0; i < kMostEvents; ++i) body += R"(,{"type":"a.b","source":"demo"})";
  const Response answer = post(body + "]}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(text_of(answer, "field"), "events");
}

TEST_F(PublishRoute, AnotherMediaTypeIsNotTaken) {
  EXPECT_EQ(post("text/plain", "{}").status, 415);
  EXPECT_EQ(post("", "{}").status, 415);
  EXPECT_EQ(post("application/xml", "<a/>", {{"ce-specversion", "1.0"}, {"ce-id", "1"}}).status, 415);
  EXPECT_EQ(post("Application/JSON; charset=utf-8", R"({"type":"a.b","source":"demo"})").status, 201);
}

TEST_F(PublishRoute, AStructuredCloudEvent) {
  const Response answer = post("application/cloudevents+json",
                               R"({"specversion":"1.0","id":"a-1","source":"/billing","type":"invoice.sent",)"
                               R"("partitionkey":"c-7","data":{"n":1}})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(text_of(answer, "source"), "billing");
  EXPECT_EQ(text_of(answer, "ordering_key"), "c-7");
  EXPECT_EQ(text_of(answer, "idempotency_key"), "/billing a-1");
}

TEST_F(PublishRoute, ABatchOfCloudEvents) {
  const Response answer =
      post("application/cloudevents-batch+json", R"([{"specversion":"1.0","id":"1","source":"a","type":"t.x"},)"
                                                 R"({"specversion":"1.0","id":"1","source":"a","type":"t.x"}])");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("outcome":"duplicate")"));
  EXPECT_EQ(store_.events().size(), 1U);
}

TEST_F(PublishRoute, AnEmptyBatchOfCloudEventsStoresNothing) {
  const Response answer = post("application/cloudevents-batch+json", "[]");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"events":[],"count":0})");
}

TEST_F(PublishRoute, ABinaryCloudEvent) {
  const Headers headers{{"ce-specversion", "1.0"}, {"ce-id", "1"}, {"ce-source", "billing"}, {"ce-type", "t.x"}};
  EXPECT_EQ(post("application/json", R"({"n":1})", headers).status, 201);
  EXPECT_EQ(store_.events()[0].envelope.payload(), R"({"n":1})");
  Headers bare = headers;
  bare["ce-id"] = "2";
  EXPECT_EQ(post("", "", bare).status, 201);
}

TEST_F(PublishRoute, TheErrorOfACloudEventNamesItsAttribute) {
  const auto field = [&](std::string body) {
    return text_of(post("application/cloudevents-batch+json", std::move(body)), "field");
  };
  EXPECT_EQ(field(R"([{"specversion":"1.0","id":"1","source":"a","type":"t/x"}])"), "events[0].type");
  EXPECT_EQ(field(R"([{"specversion":"1.0","id":"1","source":"a","type":"t","data":"x"}])"), "events[0].data");
  EXPECT_EQ(field(R"([{"specversion":"1.0","id":"1","source":"a"}])"), "events[0].type");
  EXPECT_EQ(field(R"([{"specversion":"1.0","id":"1","source":"a","type":"t","time":"x"}])"), "events[0].time");
  EXPECT_EQ(field("{}"), "events");
}

TEST_F(PublishRoute, TheTraceOfTheRequestIsContinuedByEventsThatHaveNone) {
  const std::string own = "00-11111111111111111111111111111111-2222222222222222-01";
  const Response plain = post("application/json", R"({"type":"a.b","source":"demo"})", {{"traceparent", kTraceparent}});
  EXPECT_EQ(text_of(plain, "trace_context"), kTraceparent);
  const Response traced = post("application/json", R"({"type":"a.b","source":"demo","trace_context":")" + own + R"("})",
                               {{"traceparent", kTraceparent}});
  EXPECT_EQ(text_of(traced, "trace_context"), own);
  EXPECT_EQ(post("application/json", R"({"type":"a.b","source":"demo"})", {{"traceparent", "nonsense"}}).status, 201);
}

TEST_F(PublishRoute, AnAnswerThatWasLostIsUnknownAndNamesTheId) {
  faulty_.fail_call(1, test::Fault::after);
  const Response answer = post(R"({"type":"a.b","source":"demo"})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(text_of(answer, "retry"), "in_doubt");
  EXPECT_THAT(text_of(answer, "hint"), HasSubstr(store_.events().at(0).envelope.event_id().to_string()));
  EXPECT_EQ(log_, "");
}

TEST_F(PublishRoute, AStoreThatIsAwayIsToldAsSuch) {
  faulty_.fail_call(1, test::Fault::before);
  const Response answer = post(R"({"type":"a.b","source":"demo"})");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(text_of(answer, "retry"), "safe");
}

}  // namespace
}  // namespace sluice::http
