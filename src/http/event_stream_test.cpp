#include "http/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::http {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class Heard final : public Stream {
 public:
  bool send(std::string piece) override {
    text += piece;
    return !gone;
  }
  void close() override { closed = true; }
  std::string take() { return std::exchange(text, {}); }

  std::string text;
  bool gone = false;
  bool closed = false;
};

class EventStreamTest : public testing::Test {
 protected:
  EventStreamTest() {
    context.overview = [this](const ops::ChartWindow&) { return overview; };
  }
  std::shared_ptr<Heard> listen(const std::string& topics) {
    auto stream = std::make_shared<Heard>();
    const auto read = streams.read_topics(topics);
    EXPECT_TRUE(read);
    streams.add(stream, *read);
    stream->take();
    return stream;
  }
  void step() { streams.step(Timestamp{seconds{now++}}); }

  test::EmbeddedStore store;
  Context context{*store, host::Entropy::system()};
  std::string overview = R"({"n":1})";
  EventStream streams{context};
  int now = 1000;
};

TEST_F(EventStreamTest, TellsWhatHasChangedAndNothingElse) {
  const auto stream = listen("overview");
  step();
  EXPECT_EQ(stream->take(), "event: overview\ndata: {\"n\":1}\n\n");
  step();
  EXPECT_EQ(stream->take(), "");
  overview = R"({"n":2})";
  step();
  EXPECT_EQ(stream->take(), "event: overview\ndata: {\"n\":2}\n\n");
}

TEST_F(EventStreamTest, GivesASignOfLifeWhenNothingHappens) {
  const auto stream = listen("overview");
  step();
  stream->take();
  now += 15;
  step();
  EXPECT_EQ(stream->take(), ": still here\n\n");
}

TEST_F(EventStreamTest, EachHearsItsOwnTopics) {
  const auto all = listen("overview,operations");
  const auto operations = listen("operations");
  step();
  EXPECT_THAT(all->take(), testing::AllOf(HasSubstr("event: overview"), HasSubstr("event: operations")));
  EXPECT_EQ(operations->take(), "event: operations\ndata: {\"operations\":[]}\n\n");
}

TEST_F(EventStreamTest, AnOperationMayBeNamedByTheBeginningOfItsId) {
  store.publish(test::id_of(1));
  store.fail(test::id_of(1));
  store::PlanRequest plan;
  plan.id = Uuid::parse("0190a5d0-0000-7000-8000-000000000001", "id").value();
  plan.to_generation = 1;
  plan.settings = {0, 0, 20};
  plan.valid_for = std::chrono::hours{1};
  ASSERT_TRUE(store->plan_operation(plan));
  const auto stream = listen("operation:0190a5d0");
  step();
  EXPECT_THAT(stream->take(), HasSubstr("event: operation\ndata: {\"operation_id\":\"" + plan.id.to_string()));
  EXPECT_EQ(streams.read_topics("operation:0190a5d1").error().code, ErrorCode::not_found);
}

TEST_F(EventStreamTest, WhoIsGoneIsForgotten) {
  const auto stream = listen("overview");
  stream->gone = true;
  step();
  stream->take();
  overview = R"({"n":3})";
  step();
  EXPECT_EQ(stream->take(), "");
}

TEST_F(EventStreamTest, TheEndClosesEveryStream) {
  const auto stream = listen("overview");
  streams.close();
  EXPECT_TRUE(stream->closed);
}

TEST_F(EventStreamTest, AnUnknownTopicIsRefused) {
  for (const char* topics : {"", "weather", "operation:7", "overview,,operations", "operation:"}) {
    const auto read = streams.read_topics(topics);
    ASSERT_FALSE(read) << topics;
    EXPECT_EQ(read.error().field, "topics");
  }
  EXPECT_TRUE(streams.read_topics("operation:0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e"));
}

}  // namespace
}  // namespace sluice::http
