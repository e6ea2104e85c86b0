#include "ops/contracts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "core/payload_samples.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A schema with one required string `a` and optional strings of the given names.
ContractFile file_of(const std::string& event_type, int version, const std::vector<std::string>& optional = {}) {
  Shape shape{ShapeKind::object};
  shape.properties.push_back({"a", {ShapeKind::string}, true});
  for (const auto& name : optional) {
    Shape text{ShapeKind::string};
    text.nullable = true;
    shape.properties.push_back({name, text, false});
  }
  return {detail::contract_file_name(event_type, version), detail::render_schema(event_type, version, shape)};
}

ContractSet set_of(const std::vector<ContractFile>& files) {
  const auto set = ContractSet::read(files);
  EXPECT_TRUE(set) << set.error().message;
  return set ? *set : ContractSet{};
}

std::vector<std::string> lines(const std::vector<ContractFinding>& findings) {
  std::vector<std::string> out;
  for (const auto& one : findings) {
    out.push_back(std::string{name(one.severity)} + ' ' + one.event_type + " v" + std::to_string(one.event_version) +
                  ": " + one.message);
  }
  return out;
}

std::vector<std::string> names(const std::vector<ContractFile>& files) {
  std::vector<std::string> out;
  for (const auto& file : files) out.push_back(file.file_name);
  return out;
}

TEST(Contracts, AFileIsNamedAfterItsContract) {
  ContractFile file = file_of("a.b", 1);
  file.file_name = "a.b.v2.json";
  const auto set = ContractSet::read({file});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::invalid);
  EXPECT_EQ(set.error().message, "a.b.v2.json must be named a.b.v1.json, after the event type and version in it");
}

TEST(Contracts, ABadSchemaIsNamedByItsFile) {
  EXPECT_EQ(ContractSet::read({{"x.v1.json", "[]"}}).error().message, "x.v1.json must be a JSON object");
}

TEST(Contracts, VersionsAreOrderedByNumber) {
  const ContractSet set = set_of({file_of("a", 10), file_of("a", 9), file_of("a.b", 11)});
  EXPECT_EQ(set.newest("a")->contract.event_version, 10);
  EXPECT_EQ(set.find("a", 9)->contract.event_version, 9);
  EXPECT_EQ(set.find("a", 8), nullptr);
  EXPECT_EQ(set.newest("b"), nullptr);
}

TEST(Contracts, UnchangedOnesAreNotWritten) {
  const ContractSet set = set_of({file_of("a", 1), file_of("b", 1)});
  const auto check = check_contracts(set, set);
  EXPECT_THAT(check.findings, IsEmpty());
  EXPECT_THAT(check.to_write, IsEmpty());
  EXPECT_EQ(check.unchanged, 2U);
}

TEST(Contracts, ANewVersionIsComparedWithTheNewestSnapshotAndWrittenBesideIt) {
  const ContractSet kept = set_of({file_of("a", 1), file_of("a", 2, {"b"})});
  const auto added = check_contracts(set_of({file_of("a", 3, {"b", "c"})}), kept);
  EXPECT_THAT(lines(added.findings), ElementsAre("outdated a v3: a.v3.json is not among the snapshots"));
  EXPECT_THAT(names(added.to_write), ElementsAre("a.v3.json"));
  const auto removed = check_contracts(set_of({file_of("a", 3, {"c"})}), kept);
  EXPECT_THAT(lines(removed.findings), ElementsAre("breaking a v3: payload.b was removed",
                                                   "outdated a v3: a.v3.json is not among the snapshots"));
}

TEST(Contracts, SeveralVersionsOfOneBuildAreComparedWithTheirOwn) {
  const ContractSet kept = set_of({file_of("a", 1), file_of("a", 2, {"b"})});
  EXPECT_THAT(check_contracts(kept, kept).findings, IsEmpty());
  EXPECT_THAT(lines(check_contracts(set_of({file_of("a", 1, {"x"}), file_of("a", 2, {"b"})}), kept).findings),
              ElementsAre("breaking a v1: event_version is still 1 although the fields changed"));
}

TEST(Contracts, TheNewestVersionMayNotDisappear) {
  const ContractSet kept = set_of({file_of("a", 1), file_of("a", 2)});
  EXPECT_THAT(lines(check_contracts(set_of({file_of("a", 1)}), kept).findings),
              ElementsAre("breaking a v1: event_version went back from 2 to 1"));
}

TEST(Contracts, ATypeMayNotDisappear) {
  const auto check =
      check_contracts(set_of({file_of("a", 1)}), set_of({file_of("a", 1), file_of("b", 1), file_of("b", 2)}));
  EXPECT_THAT(lines(check.findings), ElementsAre("breaking b v2: event_type b has a snapshot, but no schema any more"));
  EXPECT_EQ(check.findings[0].remedy,
            "keep publishing it until the deadline that was announced, then delete its snapshots");
}

TEST(Contracts, ANewDescriptionIsWrittenWithoutAFinding) {
  ContractFile described = file_of("a", 1);
  described.text.replace(described.text.find(R"("type": "object")"), 0, R"("description": "new", )");
  const auto check = check_contracts(set_of({described}), set_of({file_of("a", 1)}));
  EXPECT_THAT(check.findings, IsEmpty());
  ASSERT_EQ(check.to_write.size(), 1U);
  EXPECT_EQ(check.to_write[0].text, described.text);
}

TEST(Contracts, ConsumersAreCheckedAgainstTheNewestProducer) {
  const ContractSet producers = set_of({file_of("a", 1), file_of("a", 2, {"b"})});
  EXPECT_THAT(cross_check_contracts(producers, set_of({file_of("a", 1, {"b"})})), IsEmpty());
  EXPECT_THAT(lines(cross_check_contracts(producers, set_of({file_of("c", 1)}))),
              ElementsAre("breaking c v1: event_type c is read by the consumer, but no producer publishes it"));
}

TEST(Contracts, FindingsAsJson) {
  EXPECT_EQ(to_json(cross_check_contracts({}, set_of({file_of("c", 1)}))),
            R"({"findings":[{"severity":"breaking","event_type":"c","event_version":1,"path":"event_type",)"
            R"("message":"event_type c is read by the consumer, but no producer publishes it",)"
            R"("remedy":"check the name, and that the schemas of its producer are among --producer"}],)"
            R"("breaking":1,"outdated":0})");
}

ContractFile catalogued_file(const std::string& event_type, int version) {
  return {detail::contract_file_name(event_type, version),
          R"({"x-event-type":")" + event_type + R"(","x-event-version":)" + std::to_string(version) +
              R"(,"description":"Done","type":"object","properties":{ }})" + "\n"};
}

TEST(ContractCatalogue, HasAChannelPerTypeAndAMessagePerVersion) {
  const auto set = ContractSet::read({catalogued_file("a.b", 1), catalogued_file("a.b", 2)});
  ASSERT_TRUE(set);
  EXPECT_EQ(asyncapi(*set, {R"(The "shop", {all})", "7"}), R"({
  "asyncapi": "3.0.0",
  "info": {
    "title": "The \"shop\", {all}",
    "version": "7"
  },
  "defaultContentType": "application/json",
  "channels": {
    "a.b": {
      "address": "a.b",
      "messages": {
        "v1": {
          "$ref": "#/components/messages/a.b.v1"
        },
        "v2": {
          "$ref": "#/components/messages/a.b.v2"
        }
      }
    }
  },
  "operations": {
    "publish.a.b": {
      "action": "send",
      "channel": {
        "$ref": "#/channels/a.b"
      }
    }
  },
  "components": {
    "messages": {
      "a.b.v1": {
        "name": "a.b",
        "title": "a.b, version 1",
        "summary": "Done",
        "payload": {
          "schemaFormat": "application/schema+json;version=draft-07",
          "schema": {
            "x-event-type": "a.b",
            "x-event-version": 1,
            "description": "Done",
            "type": "object",
            "properties": {}
          }
        }
      },
      "a.b.v2": {
        "name": "a.b",
        "title": "a.b, version 2",
        "summary": "Done",
        "payload": {
          "schemaFormat": "application/schema+json;version=draft-07",
          "schema": {
            "x-event-type": "a.b",
            "x-event-version": 2,
            "description": "Done",
            "type": "object",
            "properties": {}
          }
        }
      }
    }
  }
}
)");
}

TEST(ContractCatalogue, IsValidJsonWithSeveralTypes) {
  const auto set = ContractSet::read({catalogued_file("a", 1), catalogued_file("b", 1)});
  ASSERT_TRUE(set);
  const std::string text = asyncapi(*set, {});
  const auto members = json::members(text, "catalogue");
  ASSERT_TRUE(members) << members.error().message;
  const auto channels = json::members((*members)[3].value, "channels");
  ASSERT_TRUE(channels) << channels.error().message;
  ASSERT_EQ(channels->size(), 2U);
  const auto second = json::members((*channels)[1].value, "channel");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ((*second)[0].value, R"("b")");
}

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
  test::FaultyAdministering faulty{store_};
  faulty.fail_verb("list_events", {ErrorCode::unavailable, Retry::safe, "away", "", ""});
  EXPECT_EQ(verify_live(faulty, {}, {}).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sluice::ops
