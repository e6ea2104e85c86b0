// Sinks: one state for all daemons, which outlives them and is audited.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::SinkDeclaration;
using store::SinkRecord;
using testing::ElementsAre;
using testing::IsEmpty;

class SwitchContract : public StoreContract {
 protected:
  void declare(const std::vector<SinkDeclaration>& sinks) { must(store().declare_sinks(sinks)); }
  void declare_shop() { declare({{"shop", "http", "https://shop.example/***", {"shop.invoices", "shop.orders"}}}); }
  SinkRecord sink(const std::string& name = "shop") {
    for (SinkRecord& record : must(store().sinks()).sinks) {
      if (record.declared.name == name) return std::move(record);
    }
    throw std::runtime_error("there is no sink " + name);
  }
  std::vector<std::string> audited() {
    std::vector<std::string> lines;
    for (const auto& record : must(store().audit({.action = "sink.*"}, 100, std::nullopt))) {
      lines.insert(lines.begin(), record.action + " by " + record.actor.name + ": " + record.actor.reason);
    }
    return lines;
  }
};
SLUICE_OVER_EVERY_STORE(SwitchContract);

const Actor kDaemon{"host-7", "daemon", "answered 410"};

TEST_P(SwitchContract, ThereIsNoneAtFirst) {
  const auto all = must(store().sinks());
  EXPECT_THAT(all.sinks, IsEmpty());
  EXPECT_GE(all.now, must(store().now()) - 1min);
}

TEST_P(SwitchContract, ADeclaredSinkIsActive) {
  declare({{"till", "exec", "/bin/till", {}}, {"shop", "http", "https://shop.example/***", {"shop.invoices"}}});
  const auto all = must(second_store()->sinks()).sinks;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].declared.name, "shop");
  EXPECT_EQ(all[0].declared.kind, "http");
  EXPECT_EQ(all[0].declared.target, "https://shop.example/***");
  EXPECT_THAT(all[0].declared.handlers, ElementsAre("shop.invoices"));
  EXPECT_TRUE(all[0].takes_deliveries());
  EXPECT_EQ(all[0].changed_by, "");
  EXPECT_THAT(all[1].declared.handlers, IsEmpty());
  EXPECT_THAT(audited(), IsEmpty());
}

TEST_P(SwitchContract, APauseIsForEverybodyAndOutlivesADeclaration) {
  declare_shop();
  must(store().switch_sink("shop", SinkSwitch::paused, operator_alice()));
  declare({{"shop", "http", "https://elsewhere.example/***", {"shop.orders"}}});
  const SinkRecord seen = must(second_store()->sinks()).sinks.at(0);
  EXPECT_EQ(seen.state, SinkSwitch::paused);
  EXPECT_EQ(seen.changed_by, operator_alice().name);
  EXPECT_EQ(seen.reason, operator_alice().reason);
  EXPECT_FALSE(seen.takes_deliveries());
  EXPECT_EQ(seen.declared.target, "https://elsewhere.example/***");
  EXPECT_THAT(seen.declared.handlers, ElementsAre("shop.orders"));
}

TEST_P(SwitchContract, EveryChangeIsAuditedAndWhatChangesNothingIsNot) {
  declare_shop();
  must(store().switch_sink("shop", SinkSwitch::active, operator_alice()));
  must(store().switch_sink("shop", SinkSwitch::paused, operator_alice()));
  must(store().switch_sink("shop", SinkSwitch::paused, {"bob", "cli", "again"}));
  EXPECT_EQ(sink().changed_by, operator_alice().name);
  must(store().switch_sink("shop", SinkSwitch::disabled, kDaemon));
  EXPECT_EQ(must(store().switch_sink("shop", SinkSwitch::paused, operator_alice())).state, SinkSwitch::disabled)
      << "a receiver that is gone is not made less so by a pause";
  must(store().switch_sink("shop", SinkSwitch::active, operator_alice()));
  const std::string alice = " by " + operator_alice().name + ": " + operator_alice().reason;
  EXPECT_THAT(audited(),
              ElementsAre("sink.pause" + alice, "sink.disable by host-7: answered 410", "sink.resume" + alice));
  const auto record = must(store().audit({.action = "sink.disable"}, 1, std::nullopt)).at(0);
  EXPECT_EQ(record.actor.surface, "daemon");
  EXPECT_THAT(record.detail, testing::HasSubstr("shop"));
}

TEST_P(SwitchContract, ACircuitOpensRestsAndCloses) {
  declare_shop();
  const Timestamp before = must(store().now());
  must(store().move_circuit("shop", 30s, {"host-7", "daemon", "answered 503"}));
  const SinkRecord opened = sink();
  ASSERT_TRUE(opened.opened_at && opened.open_until);
  EXPECT_GE(*opened.open_until, before + 30s);
  EXPECT_EQ(opened.open_reason, "answered 503");
  EXPECT_EQ(opened.state, SinkSwitch::active);
  EXPECT_FALSE(opened.takes_deliveries());
  must(store().move_circuit("shop", 60s, {"host-8", "daemon", "no answer"}));
  EXPECT_EQ(sink().opened_at, opened.opened_at);
  EXPECT_GT(sink().open_until, opened.open_until);
  EXPECT_EQ(sink().open_reason, "no answer");
  must(store().move_circuit("shop", std::nullopt, {"host-7", "daemon", "answered 200"}));
  must(store().move_circuit("shop", std::nullopt, {"host-8", "daemon", "answered 200"}));
  EXPECT_TRUE(sink().takes_deliveries());
  EXPECT_FALSE(sink().opened_at);
  EXPECT_THAT(audited(),
              ElementsAre("sink.circuit_open by host-7: answered 503", "sink.circuit_close by host-7: answered 200"));
}

TEST_P(SwitchContract, ResumingClosesTheCircuit) {
  declare_shop();
  must(store().move_circuit("shop", 30s, {"host-7", "daemon", "answered 503"}));
  const SinkRecord resumed = must(store().switch_sink("shop", SinkSwitch::active, operator_alice()));
  EXPECT_TRUE(resumed.takes_deliveries());
  EXPECT_EQ(resumed.open_reason, "");
  EXPECT_EQ(audited().size(), 2U);
}

TEST_P(SwitchContract, RefusesWhatCannotBe) {
  declare_shop();
  const auto unknown = store().switch_sink("till", SinkSwitch::paused, operator_alice());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  const auto circuit = store().move_circuit("till", 1s, kDaemon);
  ASSERT_FALSE(circuit);
  EXPECT_EQ(circuit.error().code, ErrorCode::not_found);
  const auto mute = store().switch_sink("shop", SinkSwitch::paused, {"alice", "cli", ""});
  ASSERT_FALSE(mute);
  EXPECT_EQ(mute.error().code, ErrorCode::invalid);
  EXPECT_EQ(mute.error().field, "reason");
  EXPECT_EQ(sink().state, SinkSwitch::active);
}

// It becomes a header of a delivery: a line break in it would begin another one.
TEST_P(SwitchContract, NoRowCarriesATraceContextThatIsNone) {
  const auto draft = [](std::string trace) {
    NewEvent event = an_event();
    EnvelopeDraft made = a_draft();
    made.trace_context = std::move(trace);
    event.envelope = EventEnvelope::trusted(std::move(made));
    return event;
  };
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  for (const std::string& bad :
       {std::string{"00-a\r\nX-Evil: 2"}, good + "\r\nX-Evil: 2", good + "\n", "x" + good, good.substr(0, 54),
        std::string{"00-00000000000000000000000000000000-b7ad6b7169203331-01"},
        std::string{"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"}, std::string{}}) {
    const NewEvent event = draft(bad);
    const auto published = store().publish(std::span{&event, 1});
    ASSERT_FALSE(published) << bad;
    EXPECT_EQ(published.error().code, ErrorCode::invalid) << published.error().message;
    EXPECT_THAT(published.error().message, testing::HasSubstr("trace_context"));
  }
  const Uuid id = publish(draft(good));
  EXPECT_EQ(event(id).envelope.trace_context(), good);
  EXPECT_FALSE(harness().raw_sql("update {outbox} set trace_context = 'x'"));
}

}  // namespace
}  // namespace sluice::contract
