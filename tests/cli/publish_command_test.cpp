#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/in_process.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;

class Publish : public testing::Test {
 protected:
  test::Answer publish(std::vector<std::string> words) {
    words.insert(words.begin(), "publish");
    return sluice_(std::move(words));
  }
  store::EventRecord stored(std::size_t number = 0) { return sluice_.store.events().at(number); }
  test::CommandLine sluice_;
};

TEST_F(Publish, PrintsTheIdAndNothingElse) {
  const auto answer = publish({"demo.hello", "--data", R"({"n":1})"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, stored().envelope.event_id().to_string() + '\n');
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(stored().envelope.payload(), R"({"n":1})");
  EXPECT_EQ(stored().envelope.source(), "cli");
  EXPECT_EQ(stored().channel, "outbox_gen_1");
}

TEST_F(Publish, LogsOneStructuredLineWhenVerbose) {
  const auto answer =
      publish({"demo.hello", "-v", "--id", test::id_of(5).to_string(), "--target", "worlds", "--workspace",
               test::id_of(9).to_string(), "--traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"});
  EXPECT_EQ(answer.out, test::id_of(5).to_string() + '\n');
  EXPECT_THAT(answer.err, HasSubstr(R"("level":"info","message":"event published","service":"sluice",)"
                                    R"("environment":"development","generation":1,)"
                                    R"("trace_id":"0af7651916cd43dd8448eb211c80319c","event_id":")" +
                                    test::id_of(5).to_string() +
                                    R"(","event_type":"demo.hello","source":"cli","target":"worlds",)"
                                    R"("workspace_id":")" +
                                    test::id_of(9).to_string() + "\"}\n"));
  EXPECT_THAT(publish({"demo.hello", "-v", "--id", test::id_of(5).to_string()}).err,
              HasSubstr(R"("message":"event was published before")"));
  sluice_.environment["SLUICE_LOG_FORMAT"] = "text";
  EXPECT_THAT(publish({"demo.hello", "-v"}).err, HasSubstr("INFO  event published  event_id="));
}

TEST_F(Publish, EveryFlagReachesTheStore) {
  sluice_.store.bring_generation(7, GenerationState::allocated);
  const auto answer = publish({"demo.hello",
                               "--source",
                               "billing",
                               "--target",
                               "worlds",
                               "--key",
                               "k",
                               "--idempotency-key",
                               "i",
                               "--workspace",
                               test::id_of(9).to_string(),
                               "--after",
                               "90s",
                               "--id",
                               test::id_of(5).to_string(),
                               "--class",
                               "hot",
                               "--content-class",
                               "blob",
                               "--event-version",
                               "3",
                               "--generation",
                               "7",
                               "--traceparent",
                               "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"});
  ASSERT_EQ(answer.exit, Exit::ok) << answer.err;
  const auto event = stored();
  EXPECT_EQ(event.envelope.event_id(), test::id_of(5));
  EXPECT_EQ(event.envelope.source(), "billing");
  EXPECT_EQ(event.envelope.target(), "worlds");
  EXPECT_EQ(event.envelope.idempotency_key(), "i");
  EXPECT_EQ(event.envelope.workspace_id(), test::id_of(9));
  EXPECT_EQ(event.envelope.event_version(), 3);
  EXPECT_TRUE(event.envelope.trace_context());
  EXPECT_EQ(event.ordering_key, "k");
  EXPECT_EQ(event.channel, "outbox_gen_7_hot");
  EXPECT_EQ(event.content_class, "blob");
  EXPECT_EQ(event.retry_after, sluice_.store.now + std::chrono::seconds{90});
}

TEST_F(Publish, TakesTheNewestLiveGenerationUnlessToldOtherwise) {
  sluice_.store.bring_generation(4, GenerationState::live);
  publish({"demo.hello"});
  EXPECT_EQ(stored().generation, 4);
  sluice_.store.bring_generation(9, GenerationState::allocated);
  sluice_.environment["SPECTRAL_GENERATION"] = "9";
  publish({"demo.hello"});
  EXPECT_EQ(stored(1).generation, 9);
}

TEST_F(Publish, AGenerationThatDoesNotExistIsRefused) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, std::vector<std::string>{"--dry-run"}}) {
    std::vector<std::string> words{"demo.hello", "--generation", "999"};
    words.insert(words.end(), more.begin(), more.end());
    const auto answer = publish(words);
    EXPECT_EQ(answer.exit, Exit::usage);
    EXPECT_THAT(answer.err, HasSubstr("--generation"));
    EXPECT_THAT(answer.err, HasSubstr("generation 999 does not exist"));
    EXPECT_THAT(answer.err, HasSubstr("sluice generation allocate 999"));
  }
  EXPECT_TRUE(sluice_.store.events().empty());
}

TEST_F(Publish, ARetiredGenerationTakesOnlyWhatItHas) {
  publish({"demo.hello", "--id", test::id_of(5).to_string()});
  sluice_.store.bring_generation(1, GenerationState::retired);
  const auto answer = publish({"demo.hello", "--generation", "1"});
  EXPECT_THAT(answer.err, HasSubstr("generation 1 is retired"));
  EXPECT_EQ(publish({"demo.hello", "--generation", "1", "--id", test::id_of(5).to_string()}).exit, Exit::ok);
  EXPECT_EQ(sluice_.store.events().size(), 1U);
}

TEST_F(Publish, DataComesFromAFileOrStandardInput) {
  test::TempDir folder;
  std::ofstream{folder.file("payload.json")} << R"({"from":"file"})";
  publish({"demo.hello", "--data", '@' + folder.file("payload.json")});
  EXPECT_EQ(stored().envelope.payload(), R"({"from":"file"})");
  sluice_.input = R"({"from":"stdin"})";
  publish({"demo.hello", "--data", "-"});
  EXPECT_EQ(stored(1).envelope.payload(), R"({"from":"stdin"})");
}

TEST_F(Publish, BadInputIsRefusedBeforeAStoreIsOpened) {
  sluice_.environment["SLUICE_PAYLOAD_MAX_BYTES"] = "20";
  sluice_.input = std::string(100, ' ');
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"demo.hello", "--data", "{\"n\":"}, "--data: payload is not valid JSON at line 1, column 6"},
      {{"demo.hello", "--data", "{\n1}"}, "line 2, column 1"},
      {{"demo.hello", "--data", "[1]"}, "--data: payload must be a JSON object"},
      {{"demo.hello", "--data", "-"}, "--data: the payload exceeds 20 bytes"},
      {{"demo.hello", "--data", "@/nonexistent"}, "/nonexistent cannot be read: No such file"},
      {{"demo.hello", "--data", "@/"}, "it is a directory"},
      {{"not a type"}, "TYPE: "},
      {{"demo.hello", "--source", "Bad Context"}, "--source: "},
      {{"demo.hello", "--key", ""}, "--key: "},
      {{"demo.hello", "--id", "123"}, "--id"},
      {{"demo.hello", "--workspace", "123"}, "--workspace"},
      {{"demo.hello", "--after", "soon"}, "--after"},
      {{"demo.hello", "--at", "noon"}, "--at"},
      {{"demo.hello", "--after", "1s", "--at", "2026-04-25T01:43:02Z"}, "exclude each other"},
      {{"demo.hello", "--event-version", "0"}, "--event-version"},
      {{"demo.hello", "--timeout", "3s"}, "--timeout needs --wait"},
      {{"demo.hello", "--wait", "--timeout", "x"}, "--timeout"},
      {{"demo.hello", "--generation", "0"}, "--generation"},
      {{"demo.hello", "--store", "mysql://h/db"}, "--store"},
  };
  for (const auto& [words, expected] : cases) {
    const auto answer = publish(words);
    EXPECT_EQ(answer.exit, Exit::usage) << expected;
    EXPECT_THAT(answer.err, HasSubstr(expected));
    EXPECT_EQ(answer.out, "");
  }
  EXPECT_TRUE(sluice_.opened.empty());
}

TEST_F(Publish, NoInputRefusesATerminal) {
  sluice_.terminal = true;
  const auto answer = publish({"demo.hello", "--data", "-", "--no-input"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, HasSubstr("--no-input"));
}

TEST_F(Publish, ADuplicateIsSaidAndIsNoError) {
  const std::string id = test::id_of(5).to_string();
  publish({"demo.hello", "--id", id});
  const auto again = publish({"demo.hello", "--id", id});
  EXPECT_EQ(again.exit, Exit::ok);
  EXPECT_EQ(again.out, id + '\n');
  EXPECT_THAT(again.err, HasSubstr("published before"));
  EXPECT_THAT(publish({"demo.hello", "--id", id, "-o", "json"}).out, HasSubstr(R"("outcome":"duplicate")"));
}

TEST_F(Publish, ALostCommitIsUnknown) {
  sluice_.failures["publish"] = {ErrorCode::unavailable, Retry::in_doubt, "lost", "", ""};
  const auto answer = publish({"demo.hello", "--id", test::id_of(5).to_string()});
  EXPECT_EQ(answer.exit, Exit::unavailable);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("unknown: the answer to COMMIT was lost; publishing the same id again is safe"));
  EXPECT_THAT(answer.err, HasSubstr("--id " + test::id_of(5).to_string()));
}

TEST_F(Publish, WaitEndsWithTheEvent) {
  std::vector<store::ClaimedEvent> claimed;
  const auto claim = [&] { claimed = sluice_.store.claim_all(); };
  const auto settle = [&](const Outcome& outcome) { sluice_.store.settle(claimed.at(0), outcome); };
  sluice_.interruptions = {false, false, false};
  sluice_.meanwhile = {[] {}, claim, [&] { settle(Outcome::handled()); }};
  const auto delivered = publish({"demo.hello", "--wait"});
  EXPECT_EQ(delivered.exit, Exit::ok);
  EXPECT_THAT(delivered.err, HasSubstr("delivered"));
  EXPECT_TRUE(sluice_.interruptions.empty());
  sluice_.interruptions = {false, false};
  sluice_.meanwhile = {claim, [&] { settle(Outcome::failed({"PayloadError", "bad", {}, true})); }};
  const auto failed = publish({"demo.hello", "--wait"});
  EXPECT_EQ(failed.exit, Exit::failed);
  EXPECT_THAT(failed.err, HasSubstr("PayloadError: bad"));
}

TEST_F(Publish, WaitTimesOutAndDetaches) {
  EXPECT_EQ(publish({"demo.hello", "--wait", "--timeout", "0s"}).exit, Exit::timed_out);
  sluice_.interruptions = {true};
  const auto detached = publish({"demo.hello", "--wait"});
  EXPECT_EQ(detached.exit, Exit::interrupted);
  EXPECT_THAT(detached.err, HasSubstr("the event is stored"));
}

TEST_F(Publish, WaitSaysAtOnceWhatStandsInTheWay) {
  EXPECT_THAT(publish({"demo.hello", "--wait", "--timeout", "0s"}).err,
              HasSubstr("no worker of generation 1 is alive: start one, such as `sluice serve --generation 1`"));
  sluice_.store.announce({.identity = "w1", .generation = 1, .handlers = {"a.b"}, .listener = "listening"});
  EXPECT_THAT(publish({"demo.hello", "--wait", "--timeout", "0s"}).err,
              HasSubstr("nobody subscribes to demo.hello in generation 1"));
  const Subscription wanted{.handler_name = "a.b"};
  sluice_.store.subscribe(1, {wanted});
  EXPECT_THAT(publish({"demo.hello", "--wait", "--timeout", "0s"}).err, testing::Not(HasSubstr("though")));
  sluice_.store.bring_generation(7, GenerationState::allocated);
  EXPECT_THAT(publish({"demo.hello", "--wait", "--timeout", "0s", "--generation", "7"}).err,
              HasSubstr("no worker of generation 7 is alive"));
}

TEST_F(Publish, WaitWithJsonPrintsTheRowOnce) {
  const std::string id = test::id_of(5).to_string();
  publish({"demo.hello", "--id", id});
  sluice_.store.deliver(test::id_of(5));
  const auto answer = publish({"demo.hello", "--id", id, "--wait", "-o", "json"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(R"("status":"delivered")"));
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 1);
}

TEST(PublishWithoutAStore, ADryRunNeedsNone) {
  test::CommandLine sluice{test::EmbeddedStore::Start::no_file};
  const auto answer = sluice({"publish", "demo.hello", "--dry-run", "-o", "json"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(R"("outcome":"planned")"));
  EXPECT_FALSE(sluice.store.exists());
}

}  // namespace
}  // namespace sluice::cli
