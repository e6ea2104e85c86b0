#include "tests/interleaving/scenarios.hpp"

namespace sluice::test {
namespace {

using End = World::End;

void run(const std::vector<Step>& steps) {
  for (const Step& step : steps) step.run();
}

}  // namespace

Scenario late_commits() {
  return {.name = "late commits", .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.publish_begun("P1", {"A"}), w.rollback("P1")}},
                    {"P2", {w.publish_begun("P2", {"B"}), w.commit("P2")}},
                    {"L1", {w.look("L1"), w.look("L1")}},
                    {"L2", {w.look_begun("L2"), w.commit("L2")}}};
          }};
}

Scenario two_looks() {
  return {.name = "two rescans",
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.publish_begun("P1", {"A"}), w.commit("P1")}},
                    {"P2", {w.publish_begun("P2", {"B", "k"}), w.commit("P2")}},
                    {"P3", {w.publish("P3", {"C", "k"})}},
                    {"W1", {w.claim("W1")}},
                    {"W2", {w.claim("W2"), w.settle("W2")}},
                    {"L1", {w.glance("L1"), w.look("L1")}},
                    {"L2", {w.glance("L2"), w.look("L2")}}};
          },
          .drained_by = "W1"};
}

Scenario little_room() {
  return {.name = "little room",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A1", "k"}), w.publish("S", {"A2", "k"}), w.publish("S", {"A3", "k"}),
                     w.publish("S", {"A4", "k"}), w.publish("S", {"B1", "l"}), w.publish("S", {"C1"}),
                     w.publish("S", {"B2", "l"}), w.publish("S", {"C2"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"W1", {w.claim("W1", 2), w.settle("W1")}},
                    {"W2", {w.claim("W2", 2), w.settle("W2")}},
                    {"W3", {w.claim("W3", 3)}},
                    {"L", {w.look("L"), w.look("L")}}};
          },
          .drained_by = "W2"};
}

Scenario late_successor(World::End end) {
  return {.name = "late successor",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.claim("W1")});
              },
          .scripts = [end](World& w) -> std::vector<Script> {
            return {{"P", {w.publish_begun("P", {"B", "k"}), w.commit("P")}},
                    {"Q", {w.publish("Q", {"C", "k"})}},
                    {"W1", {w.settle_begun("W1", end), w.settle_committed("W1")}},
                    {"L", {w.look("L"), w.look("L")}},
                    {"W2", {w.claim("W2")}}};
          },
          .drained_by = "W2"};
}

Scenario out_of_order() {
  return {.name = "out of order",
          .setup =
              [](World& w) {
                run({w.publish_begun("P1", {"B", "k"}), w.publish("P2", {"C", "k"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.commit("P1")}},
                    {"W1", {w.claim("W1"), w.settle("W1", End::retry)}},
                    {"W2", {w.claim("W2"), w.settle("W2"), w.claim("W2")}},
                    {"P3", {w.publish("P3", {"D", "k"})}}};
          },
          .drained_by = "W2"};
}

Scenario expiry() {
  return {.name = "expiry",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"}), w.publish("S", {"C"}), w.claim("W1")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"W1", {w.settle_begun("W1"), w.settle_committed("W1")}},
                    {"R", {w.expire("R"), w.reap("R")}},
                    {"P", {w.publish("P", {"D", "k"})}},
                    {"L", {w.look("L")}},
                    {"W2", {w.claim("W2"), w.settle("W2")}}};
          },
          .drained_by = "W2"};
}

Scenario replayed() {
  return {.name = "replay",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.claim("S"), w.settle("S", End::failed)});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P", {w.publish_begun("P", {"B", "k"}), w.commit("P")}},
                    {"O", {w.replay("O", "A")}},
                    {"Q", {w.publish("Q", {"C", "k"})}},
                    {"W1", {w.claim("W1"), w.settle_begun("W1"), w.settle_committed("W1")}},
                    {"L", {w.look("L")}},
                    {"W2", {w.claim("W2")}}};
          },
          .drained_by = "W1"};
}

Scenario cancelled() {
  return {.name = "cancelled",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"O", {w.cancel("O", "A"), w.restore("O", "A")}},
                    {"P", {w.publish("P", {"C", "k"})}},
                    {"Q", {w.cancel("Q", "B")}},
                    {"W1", {w.claim("W1"), w.settle_begun("W1"), w.settle_committed("W1")}},
                    {"L", {w.look("L"), w.look("L")}},
                    {"W2", {w.claim("W2")}}};
          },
          .drained_by = "W2"};
}

Scenario hurried() {
  return {.name = "hurried",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"}), w.publish("S", {"C"}), w.claim("S", 1)});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"S", {w.settle_begun("S", End::retry), w.settle_committed("S")}},
                    {"O", {w.run_now("O", "A"), w.run_now("O", "C")}},
                    {"Q", {w.run_now("Q", "B")}},
                    {"W1", {w.claim("W1"), w.settle("W1")}},
                    {"L", {w.look("L"), w.look("L")}},
                    {"W2", {w.claim("W2")}}};
          },
          .drained_by = "W1"};
}

Scenario sent_again() {
  return {.name = "sent again",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B"}), w.claim("W1")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"W1", {w.settle_begun("W1"), w.settle_committed("W1")}},
                    {"O", {w.resend("O", "A", "x.all"), w.resend("O", "B", "x.all")}},
                    {"Q", {w.resend("Q", "A", "x.all")}},
                    {"P", {w.publish("P", {"C", "k"})}},
                    {"L", {w.look("L")}},
                    {"W2", {w.claim("W2"), w.settle("W2")}}};
          },
          .drained_by = "W2"};
}

Scenario withdrawn() {
  return {.name = "withdrawn",
          .subscriptions = {{"x.all", "x.*"}, {"y.only", "y.*"}},
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k", "y.happened"}), w.publish("S", {"B", "k"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"U", {w.unsubscribe_begun("U", "y.only"), w.commit("U")}},
                    {"P", {w.publish("P", {"C", "k"})}},
                    {"L", {w.look_begun("L", "x.*"), w.commit("L"), w.look("L", "x.*")}},
                    {"W", {w.claim("W", 10, "x.*")}}};
          },
          .patterns = {"x.*"},
          .drained_by = "W"};
}

Scenario passers_by() {
  return {.name = "passers-by",
          .subscriptions = {{"x.all", "x.*"}},
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k", "y.happened"}), w.publish("S", {"C", "k"}),
                     w.claim("W1", 10, "x.*")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P", {w.publish("P", {"D", "k"})}},
                    {"W1", {w.settle_begun("W1"), w.settle_committed("W1")}},
                    {"L1", {w.look("L1", "x.*"), w.look("L1", "x.*")}},
                    {"L2", {w.look("L2"), w.look("L2")}}};
          },
          .patterns = {"x.*"},
          .drained_by = "W1"};
}

Scenario missing_numbers() {
  return {.name = "missing numbers",
          .setup =
              [](World& w) {
                run({w.publish_begun("P1", {"A"}), w.publish_begun("P2", {"B", "k"}), w.publish("S", {"X", "k"}),
                     w.publish("S", {"Y"}), w.claim("W1"), w.claim("W1")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.commit("P1")}},
                    {"P2", {w.commit("P2")}},
                    {"P3", {w.publish("P3", {"C", "k"})}},
                    {"W1", {w.settle("W1"), w.claim("W1"), w.claim("W1")}},
                    {"W2", {w.claim("W2"), w.claim("W2"), w.settle("W2")}}};
          },
          .drained_by = "W1",
          .dear = true};
}

Scenario one_store() {
  return {.name = "one store",
          .setup =
              [](World& w) {
                run({w.publish_begun("P1", {"A"}), w.publish_begun("P2", {"B", "k"}), w.publish("S", {"X", "k"}),
                     w.claim("W1")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.commit("P1")}},
                    {"P2", {w.commit("P2")}},
                    {"P3", {w.publish("P3", {"C", "k"})}},
                    {"W1", {w.settle("W1"), w.claim("W1"), w.claim("W1")}},
                    {"W2", {w.claim("W2"), w.claim("W2"), w.settle("W2")}},
                    {"H", {w.hold_rescans("H", World::Moment::before), w.commit("H")}},
                    {"I", {w.hold_rescans("I", World::Moment::after), w.cancel_rescans("I"), w.commit("I")}}};
          },
          .drained_by = "W1",
          .process = {"W1", "W2"}};
}

Scenario one_store_where_rescans_are_dear() {
  Scenario scenario = one_store();
  scenario.name = "one store, dear rescans";
  scenario.dear = true;
  // Somebody publishes all the time, so that the numbers that nobody has are always known.
  scenario.setup = [](World& w) {
    run({w.publish_begun("P0", {"Z"}), w.publish_begun("P1", {"A"}), w.publish_begun("P2", {"B", "k"}),
         w.publish("S", {"X", "k"}), w.publish("S", {"Y"}), w.claim("W1"), w.claim("W1")});
  };
  // None fails: whose rescan does leaves out what it would have found.
  scenario.scripts = [scripts = scenario.scripts](World& w) {
    std::vector<Script> all = scripts(w);
    std::erase_if(all.back().steps, [](const Step& step) { return step.name == "cancel rescans"; });
    return all;
  };
  return scenario;
}

Scenario two_groups() {
  return {.name = "two groups",
          .subscriptions = {{"x.all", "x.*"}, {"z.all", "*"}},
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P1", {w.publish_begun("P1", {"A", "k"}), w.commit("P1")}},
                    {"P2", {w.publish("P2", {"B", "k", "y.happened"}), w.publish("P2", {"C", "", "y.happened"})}},
                    {"W1", {w.claim("W1", 10, "x.*"), w.settle("W1")}},
                    {"W2", {w.claim("W2", 2)}},
                    {"L1", {w.look("L1", "x.*"), w.look("L1", "x.*")}},
                    {"L2", {w.look("L2"), w.look("L2")}}};
          },
          .patterns = {"x.*", ""},
          .drained_by = "W1"};
}

Scenario overlapping_claims() {
  return {.name = "overlapping claims",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"X"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"P", {w.publish_begun("P", {"B", "k"}), w.commit("P")}},
                    {"W1", {w.claim_begun("W1", 1), w.commit("W1"), w.settle("W1")}},
                    {"W2", {w.claim_begun("W2"), w.commit("W2"), w.settle_begun("W2"), w.settle_committed("W2")}},
                    {"L", {w.look("L")}}};
          }};
}

Scenario crashed_publisher() {
  Scenario scenario = late_commits();
  scenario.name = "crash of a publisher";
  scenario.scripts = [](World& w) -> std::vector<Script> {
    return {{"P1", {w.publish_begun("P1", {"A", "k"}), w.commit("P1")}},
            {"P2", {w.publish_begun("P2", {"B", "k"}), w.commit("P2")}},
            {"L", {w.look("L"), w.look("L")}},
            {"W", {w.claim("W")}},
            {"X", {w.crash("X", "P1")}}};
  };
  return scenario;
}

Scenario crashed_worker() {
  Scenario scenario = late_successor();
  scenario.name = "crash of a worker";
  const auto scripts = scenario.scripts;
  scenario.scripts = [scripts](World& w) {
    std::vector<Script> all = scripts(w);
    all.push_back({"X", {w.crash("X", "W1")}});
    return all;
  };
  return scenario;
}

Scenario crashed_look() {
  Scenario scenario = late_successor();
  scenario.name = "crash of a rescan";
  scenario.scripts = [](World& w) -> std::vector<Script> {
    return {{"P", {w.publish_begun("P", {"B", "k"}), w.commit("P")}},
            {"W1", {w.settle_begun("W1"), w.settle_committed("W1")}},
            {"L", {w.look_begun("L"), w.commit("L"), w.look("L")}},
            {"X", {w.crash("X", "L")}}};
  };
  scenario.drained_by = "W1";
  return scenario;
}

Scenario relay_on() {
  return {.name = "the relay is turned on",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"})});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"H", {w.hold_claims("H", World::Whose::listeners), w.commit("H")}},
                    {"W", {w.claim("W")}},
                    {"S", {w.turn("S", "on")}},
                    {"R", {w.relay_claim("R"), w.settle("R")}}};
          },
          .drained_by = "W",
          .relay = true};
}

Scenario relay_back() {
  return {.name = "the relay is turned back",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"}), w.publish("S", {"C", "k"}),
                     w.turn("S", "on"), w.relay_claim("R")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"I", {w.hold_claims("I", World::Whose::relays), w.commit("I")}},
                    {"R", {w.settle("R"), w.relay_claim("R"), w.settle("R")}},
                    {"S", {w.turn("S", "draining"), w.turn_off_when_drained("S"), w.turn_off_when_drained("S")}},
                    {"C", {w.consume("C"), w.consume("C")}},
                    {"W", {w.claim("W"), w.claim("W")}}};
          },
          .drained_by = "W",
          .relay = true};
}

Scenario reports() {
  return {.name = "reports of consumers",
          .setup =
              [](World& w) {
                run({w.publish("S", {"A", "k"}), w.publish("S", {"B", "k"}), w.turn("S", "on"), w.relay_claim("R1")});
              },
          .scripts = [](World& w) -> std::vector<Script> {
            return {{"R1", {w.settle_begun("R1"), w.settle_committed("R1")}},
                    {"C1", {w.report("C1", "A"), w.report("C1", "A")}},
                    {"C2", {w.report("C2", "A"), w.report("C2", "A")}},
                    {"O", {w.replay("O", "A")}},
                    {"R2", {w.relay_claim("R2"), w.settle("R2")}}};
          },
          .relay = true};
}

}  // namespace sluice::test
