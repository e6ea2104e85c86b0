#include "ops/contracts_live.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

using testing::ElementsAre;
using testing::Pair;

ContractFile file_of(const std::string& event_type, int version, const std::string& properties,
                     const std::string& required) {
  return {detail::contract_file_name(event_type, version),
          R"({"x-event-type":")" + event_type + R"(","x-event-version":)" + std::to_string(version) +
              R"(,"type":"object","properties":{)" + properties + R"(},"required":[)" + required + "]}"};
}

class VerifyLive : public testing::Test {
 protected:
  void publish(int number, const std::string& event_type, int version, const std::string& payload,
               Generation generation = kFirstGeneration) {
    EnvelopeDraft draft = test::a_draft_of(test::id_of(number), event_type);
    draft.event_version = version;
    draft.payload = payload;
    store::NewEvent event{test::must(EventEnvelope::make(std::move(draft)))};
    event.generation = generation;
    test::must(store_->publish({&event, 1}));
  }

  LiveReport verify(const LiveRequest& request = {}) {
    return test::must(verify_live(*store_, test::must(ContractSet::read(files_)), request));
  }

  test::EmbeddedStore store_;
  std::vector<ContractFile> files_{file_of("a", 1, R"("n":{"type":"integer"})", R"("n")")};
};

TEST_F(VerifyLive, TellsPendingAndFailedEventsThatTheBuildCannotRead) {
  publish(1, "a", 1, R"({"n":1})");
  publish(2, "a", 1, R"({"n":"x"})");
  publish(3, "a", 1, "{}");
  store_.fail(test::id_of(3));
  publish(4, "a", 1, R"({"m":1})");
  store_.deliver(test::id_of(4));
  publish(5, "b", 1, "{}");
  const LiveReport report = verify();
  EXPECT_EQ(report.events(), 4);
  EXPECT_EQ(report.readable, 1);
  EXPECT_EQ(report.unreadable, 2);
  EXPECT_THAT(report.without_schema, ElementsAre(Pair("b", 1)));
  ASSERT_EQ(report.offenders.size(), 2U);
  EXPECT_EQ(report.offenders[0].event_id, test::id_of(2));
  EXPECT_EQ(report.offenders[0].message, "payload.n must be a whole number, not a string");
  EXPECT_EQ(report.offenders[1].event_id, test::id_of(3));
  EXPECT_EQ(report.offenders[1].status, Status::failed);
  EXPECT_EQ(report.offenders[1].path, "payload.n");
}

TEST_F(VerifyLive, AnotherVersionIsReadWithTheNewestContract) {
  files_.push_back(file_of("a", 3, R"("n":{"type":"string"})", R"("n")"));
  publish(1, "a", 1, R"({"n":1})");
  publish(2, "a", 2, R"({"n":1})");
  publish(3, "a", 4, R"({"n":"x"})");
  const LiveReport report = verify();
  EXPECT_EQ(report.readable, 2);
  ASSERT_EQ(report.offenders.size(), 1U);
  EXPECT_EQ(report.offenders[0].event_version, 2);
  EXPECT_EQ(report.offenders[0].schema_version, 3);
}

TEST_F(VerifyLive, ReadsEveryPageAndListsOnlyTheFirstOffenders) {
  for (int number = 1; number <= 230; ++number) publish(number, "a", 1, "{}");
  LiveRequest request;
  request.offenders = 3;
  const LiveReport report = verify(request);
  EXPECT_EQ(report.unreadable, 230);
  EXPECT_EQ(report.offenders.size(), 3U);
}

TEST_F(VerifyLive, OneGenerationAlone) {
  publish(1, "a", 1, "{}", 1);
  publish(2, "a", 1, "{}", 2);
  LiveRequest request;
  request.generation = 2;
  const LiveReport report = verify(request);
  ASSERT_EQ(report.offenders.size(), 1U);
  EXPECT_EQ(report.offenders[0].event_id, test::id_of(2));
}

TEST_F(VerifyLive, AsJson) {
  publish(1, "a", 1, "{}");
  publish(2, "b", 1, "{}");
  EXPECT_EQ(to_json(verify()),
            R"({"events":2,"readable":0,"unreadable":1,"without_schema":1,)"
            R"("types_without_schema":{"b":1},"offenders":[{"event_id":")" +
                test::id_of(1).to_string() +
                R"(","event_type":"a","event_version":1,"status":"pending","schema_version":1,)"
                R"("path":"payload.n","message":"payload.n is missing; it must be a whole number"}]})");
}

TEST_F(VerifyLive, PassesAnErrorOn) {
  test::FaultyStore faulty{*store_};
  faulty.fail_verb("list_events", {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  EXPECT_EQ(verify_live(faulty, {}, {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
