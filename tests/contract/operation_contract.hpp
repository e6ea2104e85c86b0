// The fixture of the bulk operations: dead letters of generation 1, a plan over them, and an executor.
#pragma once

#include <map>

#include "core/json.hpp"
#include "tests/contract/contract.hpp"

namespace sluice::contract {

using store::EventFilter;
using store::OperationChange;
using store::OperationRecord;
using store::PlanRequest;

inline PlanRequest plan_of(OperationKind kind, const EventFilter& filter = {}) {
  PlanRequest request;
  request.id = new_id();
  request.kind = kind;
  request.filter = filter;
  request.filter_text = "everything";
  if (kind == OperationKind::replay) request.to_generation = 1;
  request.actor = {"planner", "cli", ""};
  return request;
}

class OperationFixture : public StoreContract {
 protected:
  static constexpr Duration kLease = 30s;

  /// In insert order, all of them failed for good.
  std::vector<Uuid> failed_events(int count) {
    const auto published = publish(events(count));
    for (const ClaimedEvent& claimed : claim(count)) settle(claimed, Outcome::failed(terminal_failure()));
    return published;
  }

  OperationRecord plan(OperationKind kind = OperationKind::replay, const EventFilter& filter = {}) {
    return must(store().plan_operation(plan_of(kind, filter)));
  }
  Result<OperationRecord> try_start(const OperationRecord& planned, const Actor& actor = operator_alice()) {
    return store().start_operation(planned.id, planned.progress.counts.total, planned.progress.settings, actor);
  }
  /// Planned, started, and held by `e1`.
  OperationRecord started(OperationKind kind = OperationKind::replay, const EventFilter& filter = {}) {
    const OperationRecord planned = plan(kind, filter);
    must(try_start(planned));
    return hold(planned.id);
  }

  OperationRecord hold(const Uuid& id, const std::string& executor = "e1") {
    return must(store().hold_operation(id, executor, kLease));
  }
  OperationRecord advance(const Uuid& id, int limit = 100) {
    return must(store().advance_operation(id, "e1", limit, must(store().now())));
  }
  OperationRecord change(const Uuid& id, OperationChange::What what, int rate = 0) {
    return must(store().change_operation(id, {what, rate}, operator_alice()));
  }

  std::vector<std::string> item_states(const Uuid& id) {
    std::vector<std::string> states;
    for (const auto& item : must(store().operation_items(id, 1000, 0))) states.push_back(item.state);
    return states;
  }
  std::vector<Uuid> item_events(const Uuid& id) {
    std::vector<Uuid> found;
    for (const auto& item : must(store().operation_items(id, 1000, 0))) found.push_back(item.event_id);
    return found;
  }
  std::vector<std::string> audited_actions() {
    std::vector<std::string> actions;
    for (const auto& record : must(store().audit({}, 1000, {}))) actions.insert(actions.begin(), record.action);
    return actions;
  }
};

/// The members of a JSON object, as raw text.
inline std::map<std::string, std::string> members_of(std::string_view object) {
  std::map<std::string, std::string> found;
  for (const json::Member& member : must(json::members(object, "object"))) {
    found[member.name] = std::string{member.value};
  }
  return found;
}

template <class T>
void expect_error(const Result<T>& result, ErrorCode code, const std::string& part) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code);
  EXPECT_THAT(result.error().message, testing::HasSubstr(part));
}

template <class T>
void expect_invalid(const Result<T>& result, const std::string& field) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid);
  EXPECT_EQ(result.error().field, field);
}

}  // namespace sluice::contract

namespace sluice {
inline void PrintTo(OperationState state, std::ostream* out) { *out << name(state); }
}  // namespace sluice
