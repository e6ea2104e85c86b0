#include "cli/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/key_table.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::HasSubstr;

TEST(CommandTable, EveryRowIsComplete) {
  std::set<std::string> titles;
  for (const Command& command : commands()) {
    EXPECT_TRUE(titles.insert(command.title()).second) << command.title();
    EXPECT_NE(command.run, nullptr) << command.title();
    EXPECT_FALSE(command.summary.empty()) << command.title();
    EXPECT_FALSE(command.examples.empty()) << command.title();
  }
}

TEST(CommandTable, FlagsAreUniqueAndDescribed) {
  for (const Command& command : commands()) {
    std::set<std::string_view> names;
    for (const Option& option : all_options(command)) {
      EXPECT_TRUE(names.insert(option.name).second) << command.title() << ' ' << option.name;
      EXPECT_TRUE(option.name.starts_with("--")) << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
}

TEST(CommandTable, AFlagThatSetsAKeyIsTheOneTheKeyNames) {
  for (const Command& command : commands()) {
    for (const Option& option : all_options(command)) {
      if (option.config_key.empty()) continue;
      const config::Key* key = config::find_key(option.config_key);
      ASSERT_NE(key, nullptr) << option.config_key;
      EXPECT_EQ(key->flag, option.name);
    }
  }
}

TEST(CommandTable, EveryKeyWithAFlagHasItSomewhere) {
  std::set<std::string_view> offered;
  for (const Command& command : commands()) {
    for (const Option& option : all_options(command)) offered.insert(option.name);
  }
  for (const config::Key& key : config::keys()) {
    EXPECT_TRUE(key.flag.empty() || offered.contains(key.flag)) << key.flag;
  }
}

const std::string kOperation = test::id_of(9).to_string();

// What each command needs beside --dry-run so that there is something to change.
std::vector<std::string> something_to_change(const Command& command) {
  static const std::map<std::string, std::vector<std::string>> words{
      {"publish", {"demo.hello"}},
      {"generation activate", {"1"}},
      {"generation drain", {"2"}},
      {"generation retire", {"3"}},
      {"generation reroute", {"3", "--to", "2"}},
      {"subscription remove", {"billing.meter", "--generation", "2"}},
      {"event run-now", {test::id_of(1).to_string()}},
      {"event reschedule", {test::id_of(1).to_string(), "--at", "2h"}},
      {"event cancel", {test::id_of(1).to_string()}},
      {"event restore", {test::id_of(1).to_string()}},
      {"event resend", {test::id_of(1).to_string(), "--handler", "billing.meter"}},
      {"dlq replay", {"--all"}},
      {"dlq discard", {"--all"}},
      {"dlq restore", {"--all"}},
      {"dlq ack", {"fingerprint"}},
      {"filter save", {"late", "type:demo.*"}},
      {"filter remove", {"kept"}},
      {"op pause", {kOperation}},
      {"op resume", {kOperation}},
      {"op cancel", {kOperation}},
      {"op rate", {kOperation, "5"}},
      {"sink pause", {"shop"}},
      {"sink resume", {"shop"}},
  };
  const auto found = words.find(command.title());
  return found == words.end() ? std::vector<std::string>{} : found->second;
}

// `db grant`, `db index` and `db doorbell` need a server: tests/cli/postgres_cli_test.cpp and
// postgres_delivery_test.cpp. `contract snapshot` changes files, not a store: tests/cli/contract_command_test.cpp.
// `move` needs two stores: tests/integration/postgres_move_test.cpp.
TEST(CommandTable, EveryChangeHasADryRunThatChangesNothing) {
  test::CommandLine sluice;
  sluice.store.bring_generation(1, GenerationState::allocated);
  sluice.store.bring_generation(2, GenerationState::live);
  sluice.store.bring_generation(3, GenerationState::draining);
  sluice.store.subscribe(2, std::vector<Subscription>{{.handler_name = "billing.meter"}});
  sluice.store.publish(test::id_of(1));
  sluice.store.fail(test::id_of(1));
  store::PlanRequest plan;
  plan.id = test::id_of(9);
  plan.to_generation = 2;
  test::must(sluice.store->plan_operation(plan));
  const store::SinkDeclaration shop{.name = "shop", .kind = "http", .target = "https://shop.test/in", .handlers = {}};
  test::must(sluice.store->declare_sinks(std::span{&shop, 1}));
  test::must(sluice.store->save_filter("kept", "type:demo.*", {"tests", "tests", ""}));
  const auto before = sluice.store.sql("select count(*) from audit");
  for (const Command& command : commands()) {
    const std::string title = command.title();
    const std::set<std::string> elsewhere{"db grant",          "db index",         "db doorbell",
                                          "contract snapshot", "ladder partition", "move"};
    if (!command.mutating || elsewhere.contains(title)) continue;
    std::vector<std::string> words{command.path.begin(), command.path.end()};
    words.emplace_back("--dry-run");
    for (const auto& word : something_to_change(command)) words.push_back(word);
    if (title == "dlq note")
      words.insert(words.end(), {sluice.store.sql("select fingerprint from outbox").front(), "a ticket"});
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::ok) << title << ": " << answer.err;
    EXPECT_FALSE(sluice.opened.back().create) << title;
  }
  ASSERT_EQ(sluice.store.events().size(), 1U);
  EXPECT_EQ(sluice.store.events().front().status, Status::failed);
  EXPECT_EQ(sluice.store.events().front().deleted_at, std::nullopt);
  EXPECT_EQ(sluice.store->operation(plan.id)->progress.state, OperationState::planned);
  EXPECT_EQ(sluice.store.sql("select count(*) from audit"), before);
  EXPECT_EQ(sluice.store->subscriptions()->size(), 1U);
  std::vector<GenerationState> states;
  for (const auto& deployment : test::must(sluice.store->deployments())) states.push_back(deployment.state);
  EXPECT_THAT(states,
              testing::ElementsAre(GenerationState::allocated, GenerationState::live, GenerationState::draining));
}

TEST(CommandTable, ADryRunOfAMigrationLeavesTheSchemaAlone) {
  test::CommandLine sluice{test::EmbeddedStore::Start::no_schema};
  EXPECT_EQ(sluice({"db", "migrate", "--dry-run"}).exit, Exit::ok);
  EXPECT_EQ(sluice.store->schema_version()->applied, 0);
}

TEST(Run, WithoutACommandShowsHelpOnStderr) {
  test::CommandLine sluice;
  const auto answer = sluice({});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("sluice publish"));
}

TEST(Run, VersionInEveryForm) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"version"}).out, testing::StartsWith("sluice 0."));
  EXPECT_EQ(sluice({"--version"}).out, sluice({"version"}).out);
  EXPECT_THAT(sluice({"version", "-o", "json"}).out, testing::StartsWith(R"({"version":"0.)"));
}

TEST(Run, QuietDropsNotesAndVerboseAddsThem) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"event", "list", "-q"}).err, "");
  EXPECT_THAT(sluice({"event", "list"}).err, HasSubstr("no events match"));
  EXPECT_THAT(sluice({"event", "list", "-v", "--store", "postgres://u:secret@h/db"}).err,
              HasSubstr("store: postgres://u:***@h/db"));
}

TEST(CommandFlags, ANumberThatIsTooLargeForAnyIntIsToldTheBoundToo) {
  test::CommandLine sluice;
  for (const std::string flag : {"--rate", "--canary"}) {
    for (const std::string number : {"1000001", "10000000000000"}) {
      const auto answer = sluice({"dlq", "plan", "--all", flag, number});
      EXPECT_EQ(answer.exit, Exit::usage) << flag << number;
      EXPECT_THAT(answer.err, HasSubstr(flag.substr(2) + " must be a whole number from 0 to 1000000"));
    }
  }
}

}  // namespace
}  // namespace sluice::cli
