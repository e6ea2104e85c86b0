#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sluice/payload.hpp>
#include "tests/cli/in_process.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ContractCommand : public testing::Test {
 protected:
  /// A schema of `shop.order` with a required number `n` and optional strings of these names.
  static ContractFile order(int version, const std::vector<std::string>& optional = {}) {
    std::string properties = R"("n":{"type":"integer","format":"int32"})";
    for (const auto& name : optional) properties += ",\"" + name + R"(":{"type":["string","null"]})";
    return {"shop.order.v" + std::to_string(version) + ".json",
            R"({"x-event-type":"shop.order","x-event-version":)" + std::to_string(version) +
                R"(,"type":"object","properties":{)" + properties + R"(},"required":["n"]})"};
  }

  /// The same of `shop.other`.
  static ContractFile other() {
    ContractFile file = order(1);
    file.file_name = "shop.other.v1.json";
    file.text.replace(file.text.find("shop.order"), 10, "shop.other");
    return file;
  }

  /// The directory with exactly these files.
  std::string directory(const std::string& name, const std::vector<ContractFile>& files) {
    const auto path = folder_.path() / name;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    for (const auto& file : files) std::ofstream{path / file.file_name} << file.text;
    return path.string();
  }

  std::vector<std::string> files_in(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path() / name}) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string text_of(const std::string& file) const {
    std::ifstream in{folder_.file(file)};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  test::Answer run(const std::string& verb, const std::vector<ContractFile>& schemas,
                   std::vector<std::string> more = {}) {
    std::vector<std::string> words{"contract",          verb, "--schemas", directory("schemas", schemas), "--snapshots",
                                   folder_.file("kept")};
    words.insert(words.end(), more.begin(), more.end());
    return sluice(words);
  }

  void publish(int number, const std::string& payload) {
    EnvelopeDraft draft = test::a_draft_of(test::id_of(number), "shop.order");
    draft.payload = payload;
    const store::NewEvent event{test::must(EventEnvelope::make(std::move(draft)))};
    test::must(sluice.store->publish({&event, 1}));
  }

  test::TempDir folder_;
  test::CommandLine sluice;
};

TEST_F(ContractCommand, SnapshotKeepsTheSchemasAndCheckPasses) {
  const auto first = run("snapshot", {order(1)});
  EXPECT_EQ(first.exit, Exit::ok) << first.err;
  EXPECT_EQ(first.out, "shop.order.v1.json\n");
  EXPECT_EQ(first.err, "sluice: wrote 1; 0 unchanged\n");
  EXPECT_EQ(text_of("kept/shop.order.v1.json"), order(1).text);
  EXPECT_THAT(files_in("kept"), ElementsAre("shop.order.v1.json"));
  const auto check = run("check", {order(1)});
  EXPECT_EQ(check.exit, Exit::ok) << check.err;
  EXPECT_EQ(check.out, "");
  EXPECT_EQ(run("snapshot", {order(1)}, {"-o", "json"}).out, "{\"dry_run\":false,\"written\":[],\"unchanged\":1}\n");
}

TEST_F(ContractCommand, ADryRunWritesNothing) {
  const auto answer = run("snapshot", {order(1)}, {"--dry-run"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_EQ(answer.out, "shop.order.v1.json\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept"));
}

TEST_F(ContractCommand, AnAdditiveVersionIsKeptBesideTheOldOne) {
  run("snapshot", {order(1)});
  const auto outdated = run("check", {order(2, {"note"})});
  EXPECT_EQ(outdated.exit, Exit::findings);
  EXPECT_THAT(outdated.out, StartsWith("shop.order v2: shop.order.v2.json is not among the snapshots [outdated]\n"));
  EXPECT_EQ(run("snapshot", {order(2, {"note"})}).exit, Exit::ok);
  EXPECT_THAT(files_in("kept"), ElementsAre("shop.order.v1.json", "shop.order.v2.json"));
  EXPECT_EQ(run("check", {order(2, {"note"})}).exit, Exit::ok);
}

TEST_F(ContractCommand, ContractSnapshotRefusesARemovedField) {
  run("snapshot", {order(1, {"note"})});
  const auto answer = run("snapshot", {order(2), other()});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out, StartsWith("shop.order v2: payload.note was removed [breaking]\n"
                                     "  publish the new shape as the event type shop.order.v2 and announce a deadline "
                                     "until which shop.order is still published\n"));
  EXPECT_THAT(answer.err, HasSubstr("fields are only added"));
  EXPECT_THAT(answer.err, HasSubstr("no snapshot was written"));
  EXPECT_THAT(files_in("kept"), ElementsAre("shop.order.v1.json"));
}

TEST_F(ContractCommand, CheckExplainsItselfAsJson) {
  run("snapshot", {order(1, {"note"})});
  const auto answer = run("check", {order(2)}, {"-o", "json"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out,
              StartsWith(R"({"findings":[{"severity":"breaking","event_type":"shop.order","event_version":2,)"
                         R"("path":"payload.note","message":"payload.note was removed","remedy":"publish)"));
  EXPECT_THAT(answer.out, HasSubstr(R"("breaking":1,"outdated":1})"));
  EXPECT_THAT(run("check", {order(2)}, {"-o", "ndjson"}).out, StartsWith(R"({"severity":"breaking",)"));
}

TEST_F(ContractCommand, CrossCheckComparesProducerAndConsumer) {
  const auto cross_check = [&](const std::vector<ContractFile>& producer, const std::vector<ContractFile>& consumer) {
    return sluice({"contract", "cross-check", "--producer", directory("producer", producer), "--consumer",
                   directory("consumer", consumer)});
  };
  EXPECT_EQ(cross_check({order(2, {"note"})}, {order(1)}).exit, Exit::ok);
  ContractFile strict = order(1, {"note"});
  strict.text.replace(strict.text.find(R"(["n"])"), 5, R"(["n","note"])");
  const auto answer = cross_check({order(1, {"note"})}, {strict});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_THAT(answer.out, HasSubstr("payload.note is required by the consumer, but the producer may leave it out"));
}

TEST_F(ContractCommand, VerifyLiveFindsTheEventsThatCannotBeRead) {
  const auto verify = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"contract", "verify-live", "--schemas", directory("schemas", {order(1)})};
    words.insert(words.end(), more.begin(), more.end());
    return sluice(words);
  };
  publish(1, R"({"n":1})");
  sluice.store.publish(test::id_of(2));
  const auto fine = verify({});
  EXPECT_EQ(fine.exit, Exit::ok) << fine.err;
  EXPECT_EQ(fine.out, "");
  EXPECT_EQ(fine.err, "sluice: 1 of 2 pending and failed events can be read, 0 cannot, 1 have no schema\n");

  publish(3, R"({"n":"x"})");
  publish(4, "{}");
  const auto bad = verify({"--limit", "1", "-o", "json"});
  EXPECT_EQ(bad.exit, Exit::findings);
  EXPECT_EQ(bad.out, R"({"events":4,"readable":1,"unreadable":2,"without_schema":1,)"
                     R"("types_without_schema":{"demo.hello":1},"offenders":[{"event_id":")" +
                         test::id_of(4).to_string() +
                         R"(","event_type":"shop.order","event_version":1,"status":"pending","schema_version":1,)"
                         R"("path":"payload.n","message":"payload.n is missing; it must be a whole number"}]})"
                         "\n");
  const auto table = verify({"-v"});
  EXPECT_THAT(table.out, HasSubstr(test::id_of(3).to_string()));
  EXPECT_THAT(table.out, HasSubstr("payload.n must be a whole number, not a string"));
  EXPECT_THAT(table.err, HasSubstr("no schema for demo.hello: 1"));
  EXPECT_EQ(verify({"--limit", "x"}).exit, Exit::usage);
  EXPECT_EQ(verify({"--generation", "2"}).exit, Exit::ok);
}

TEST_F(ContractCommand, ExportWritesTheCatalogue) {
  const std::string schemas = directory("schemas", {order(1)});
  const auto answer = sluice({"contract", "export", "--schemas", schemas, "--title", "Shop"});
  EXPECT_EQ(answer.exit, Exit::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr(R"("title": "Shop",)"));
  const auto to_file =
      sluice({"contract", "export", "--schemas", schemas, "--title", "Shop", "--to", folder_.file("shop.json")});
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(text_of("shop.json"), answer.out);
  EXPECT_EQ(sluice({"contract", "export", "--schemas", schemas, "--to", folder_.file("no/such.json")}).exit,
            Exit::usage);
}

TEST_F(ContractCommand, NamesTheDirectoryThatIsWrong) {
  EXPECT_THAT(sluice({"contract", "check"}).err, HasSubstr("--schemas must name the directory of schema files"));
  EXPECT_EQ(sluice({"contract", "check", "--schemas", folder_.file("none")}).exit, Exit::not_found);
  EXPECT_THAT(run("check", {}).err, HasSubstr("has no schema file"));
  const auto no_snapshots = run("check", {order(1)});
  EXPECT_EQ(no_snapshots.exit, Exit::not_found);
  EXPECT_THAT(no_snapshots.err, HasSubstr("--snapshots: the directory"));
  EXPECT_THAT(run("check", {{"x.v1.json", "{"}}).err, HasSubstr("x.v1.json is not valid JSON"));
  EXPECT_THAT(sluice.opened, IsEmpty()) << "only verify-live needs a store";
}

TEST_F(ContractCommand, ASnapshotThatCannotBeWrittenLeavesNothingBehind) {
  std::ofstream{folder_.file("file")} << "not a directory";
  const auto blocked = sluice({"contract", "snapshot", "--schemas", directory("schemas", {order(1)}), "--snapshots",
                               folder_.file("file") + "/kept"});
  EXPECT_NE(blocked.exit, Exit::ok);
  // The second file cannot be written beside its place, so the first must not get to its own.
  std::filesystem::create_directories(folder_.path() / "kept" / ".shop.other.v1.json.new");
  const auto answer = run("snapshot", {order(1), other()});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.err, HasSubstr("cannot be written"));
  EXPECT_THAT(files_in("kept"), ElementsAre(".shop.other.v1.json.new"));
}

}  // namespace
}  // namespace sluice::cli
