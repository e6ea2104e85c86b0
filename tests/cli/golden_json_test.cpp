// What commands print with -o json, as files: scripts rely on the fields. One small store on a clock that stands
// still; every command of the table is here, or says why not.
#include <algorithm>
#include <map>

#include "cli/command.hpp"
#include "tests/cli/golden.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using std::chrono::seconds;

// What differs from run to run.
std::string steady(std::string text, const test::CommandLine& sluice) {
  const std::string folder = sluice.store.folder();
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.replace(at, folder.size(), "/home");
  return text;
}

class GoldenJson : public testing::Test {
 protected:
  GoldenJson() {
    const Subscription meter{.handler_name = "billing.meter"};
    sluice_.store.subscribe(1, {meter});
    sluice_.store.announce(
        {.identity = "host-1", .generation = 1, .handlers = {"billing.meter"}, .listener = "listening"});
    sluice_.store.bring_generation(1, GenerationState::live);
    sluice_.store.publish(test::id_of(1));
    sluice_.store.deliver(test::id_of(1), "billing.meter");
    for (int number = 2; number <= 4; ++number) {
      sluice_.store.publish(test::id_of(number));
      sluice_.store.fail(test::id_of(number), number == 4 ? "refused" : "slow");
    }
    sluice_.store.publish(test::id_of(5));
  }
  // Runs it and compares what it printed.
  void expect(const std::string& name, std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    const auto answer = sluice_(words);
    EXPECT_EQ(answer.exit, Exit::ok) << name << ": " << answer.err;
    test::expect_golden("cli_json/" + name + ".json", steady(answer.out, sluice_));
    shown_.insert(name);
  }
  void expect_saved_filters() {
    expect("filter_save", {"filter", "save", "late", "since:2h type:demo.*"});
    expect("filter_list", {"filter", "list"});
    expect("filter_remove", {"filter", "remove", "late", "--dry-run"});
  }
  void expect_changes_of_one_event() {
    expect("dlq_count", {"dlq", "count"});
    expect("dlq_note", {"dlq", "note", "65433f7171b9ae14", "the provider knows"});
    expect("event_resend", {"event", "resend", id(5), "--handler", "billing.meter", "--reason", "lost there", "--yes"});
    expect("event_reschedule", {"event", "reschedule", id(5), "--at", "2h", "--reason", "too soon", "--yes"});
    expect("event_run-now", {"event", "run-now", id(5), "--reason", "now", "--yes"});
    expect("event_cancel", {"event", "cancel", id(5), "--reason", "not needed", "--yes"});
    expect("event_restore", {"event", "restore", id(5), "--reason", "needed", "--yes"});
  }
  static std::string id(int number) { return test::id_of(number).to_string(); }
  test::CommandLine sluice_;
  std::set<std::string> shown_;
};

TEST_F(GoldenJson, OfEveryCommand) {
  expect("publish", {"publish", "demo.hello", "--data", "{\"n\":1}", "--dry-run"});
  expect("tail", {"tail", "--once", "--lines", "1"});
  expect("event_list", {"event", "list", "--limit", "2"});
  expect("event_show", {"event", "show", id(1)});
  expect("dlq_groups", {"dlq", "groups"});
  expect("dlq_list", {"dlq", "list", "--limit", "2"});
  expect("dlq_show", {"dlq", "show", id(2)});
  expect("dlq_plan", {"dlq", "plan", "--filter", "text:slow", "--canary", "1"});
  expect("dlq_export", {"dlq", "export", id(2)});
  expect("dlq_replay", {"dlq", "replay", "--filter", "text:slow", "--dry-run"});
  expect("dlq_ack", {"dlq", "ack", sluice_.store.sql("select fingerprint from outbox where status = 'failed'").front(),
                     "--reason", "known"});
  expect("dlq_discard", {"dlq", "discard", id(4), "--reason", "stale", "--yes"});
  expect("dlq_restore", {"dlq", "restore", id(4), "--reason", "not stale", "--yes"});

  const auto started = sluice_({"dlq", "replay", "--filter", "text:slow", "--detach", "--reason", "fixed", "--yes"});
  ASSERT_EQ(started.exit, Exit::ok) << started.err;
  const std::string operation = sluice_.store.sql("select id from operations where state = 'running'").front();
  expect("op_list", {"op", "list"});
  expect("op_show", {"op", "show", operation});
  expect("op_rate", {"op", "rate", operation, "5"});
  expect("op_pause", {"op", "pause", operation});
  expect("op_resume", {"op", "resume", operation});
  for (int wait = 0; wait < 10; ++wait) {
    sluice_.interruptions.push_back(false);
    sluice_.meanwhile.push_back([this] {
      for (const auto& event : sluice_.store.claim_all()) sluice_.store.settle(event, Outcome::handled());
      sluice_.store.now += seconds{1};
    });
  }
  expect("op_watch", {"op", "watch", operation});
  sluice_.interruptions.clear();
  sluice_.meanwhile.clear();
  const auto second = sluice_({"dlq", "replay", "--all", "--detach", "--reason", "fixed", "--yes"});
  ASSERT_EQ(second.exit, Exit::ok) << second.err;
  expect("op_cancel",
         {"op", "cancel", sluice_.store.sql("select id from operations where state = 'running'").front(), "--yes"});
  expect_saved_filters();
  expect("audit_list", {"audit", "list"});
  expect("ladder_status", {"ladder", "status"});

  expect("generation_list", {"generation", "list"});
  expect("generation_allocate", {"generation", "allocate"});
  expect("generation_activate", {"generation", "activate", "2"});
  expect("generation_drain", {"generation", "drain", "1"});
  expect("generation_reroute", {"generation", "reroute", "1", "--to", "2", "--reason", "moved", "--dry-run"});
  expect("subscription_list", {"subscription", "list"});
  expect("subscription_remove", {"subscription", "remove", "billing.meter", "--generation", "1", "--dry-run"});
  expect("worker_list", {"worker", "list"});
  const store::SinkDeclaration shop{"shop", "http", "https://shop.example/***", {"billing.meter"}};
  test::must(sluice_.store->declare_sinks(std::span{&shop, 1}));
  expect("sink_pause", {"sink", "pause", "shop", "--reason", "migrating"});
  expect("sink_list", {"sink", "list"});
  expect("status", {"status"});
  expect("ladder_relay", {"ladder", "relay"});
  expect("sink_resume", {"sink", "resume", "shop", "--reason", "migrated"});
  expect("sink_show", {"sink", "show", "shop"});
  sluice_.trial = [](const std::string&) { return ops::Trial{true, "200", "200: thanks", seconds{1}}; };
  expect("sink_test", {"sink", "test", "shop"});
  expect("check_backlog", {"check", "backlog"});
  expect("retention_run", {"retention", "run", "--dry-run"});
  expect_changes_of_one_event();
  expect("db_migrate", {"db", "migrate"});
  expect("db_version", {"db", "version"});
  expect("db_validate", {"db", "validate"});
  expect("config_validate", {"config", "validate"});

  // Not here: they end with another exit code on this store, run until stopped, print another language, or depend on
  // the build; each has tests of its own.
  // clang-format off
  const std::set<std::string> elsewhere{
      "serve", "generation_retire", "move", "retention_sweep", "retention_show", "ladder_partition", "db_doorbell",
      "db_grant", "db_index", "db_sql", "config_show", "config_explain", "completion", "version", "man", "mcp",
      "doctor", "alert_test", "contract_snapshot", "contract_check", "contract_export", "check",
      "contract_cross-check", "contract_verify-live"};
  // clang-format on
  for (const Command& command : commands()) {
    std::string name = command.title();
    std::replace(name.begin(), name.end(), ' ', '_');
    const bool covered =
        std::any_of(shown_.begin(), shown_.end(), [&](const std::string& one) { return one.starts_with(name); });
    EXPECT_TRUE(covered || elsewhere.contains(name)) << name << " has no golden JSON";
  }
}

}  // namespace
}  // namespace sluice::cli
