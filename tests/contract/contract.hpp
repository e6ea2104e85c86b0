// The fixture of the contract suite. Each case runs once per store, on a store of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/settle.hpp"
#include "store/store.hpp"
#include "tests/contract/harness.hpp"
#include "tests/support/events.hpp"

namespace sluice::contract {

using namespace std::chrono_literals;
using store::Actor;
using store::ClaimedEvent;
using store::ClaimRequest;
using store::EventRecord;
using store::NewEvent;
using store::PublishOutcome;
using store::SettleItem;
using store::SettleReport;
using test::a_draft;
using test::a_keyed_event;
using test::an_event;
using test::events;
using test::new_id;

/// The value, or a failed test that says why.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(std::string{name(result.error().code)} + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Harness& harness() { return *harness_; }
  store::Store& store() { return harness_->store(); }
  std::unique_ptr<store::Store> second_store() { return must(harness_->second_store()); }
  void age(Duration by) { harness_->age(by); }
  Rows raw_sql(const std::string& statement) { return must(harness_->raw_sql(statement)); }

  Uuid publish(const NewEvent& event = an_event());
  std::vector<Uuid> publish(const std::vector<NewEvent>& events);
  EventRecord event(const Uuid& id) { return must(store().get_event(id)); }

  /// Claims as worker `w1`.
  std::vector<ClaimedEvent> claim(int limit = 10);
  std::vector<ClaimedEvent> claim(const ClaimRequest& request) { return must(store().claim(request)); }
  /// The only event that can be claimed now.
  ClaimedEvent claim_one();

  SettleReport settle(const ClaimedEvent& claimed, const Outcome& outcome, const RetryPolicy& policy = {});
  SettleReport deliver(const ClaimedEvent& claimed) { return settle(claimed, Outcome::handled()); }

  /// A published event that a handler has failed for good.
  Uuid failed_event(const NewEvent& event = an_event());
  /// Claims the event, which must be the only one that is due, and fails it for good.
  void fail_once(const Uuid& id);
  Uuid delivered_event(const NewEvent& event = an_event());
  /// Generation 1 is retired, generation 2 is live.
  void replace_first_generation();

  /// The newest entry of the event's audit.
  std::string last_action(const Uuid& id) { return must(store().audit_of(id)).back().action; }

  template <class T>
  static void refused(const Result<T>& answer, ErrorCode code, const std::string& says) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code);
    EXPECT_THAT(answer.error().message, testing::HasSubstr(says));
  }

 private:
  std::unique_ptr<Harness> harness_;
};

SettleItem settle_item(const ClaimedEvent& claimed, const Outcome& outcome, const RetryPolicy& policy = {});
ClaimRequest request_for(std::string worker, int limit = 10);
std::vector<Uuid> ids(const std::vector<ClaimedEvent>& claimed);
std::vector<Uuid> ids(const std::vector<NewEvent>& events);
Subscription subscription(std::string handler_name, std::vector<std::string> event_types = {"*"});

Failure timeout_failure();
Failure terminal_failure();
/// Retries without jitter: one minute after each failed attempt.
RetryPolicy minute_retries(int max_attempts = 5);
Actor operator_alice();

std::vector<std::string> store_names();
std::string store_label(const testing::TestParamInfo<std::string>& param);

/// Runs the cases of a fixture once per store.
#define SLUICE_OVER_EVERY_STORE(part) \
  INSTANTIATE_TEST_SUITE_P(Stores, part, testing::ValuesIn(store_names()), store_label)

/// `SLUICE_CONTRACT(PublishContract)` declares a part of the suite that needs no fixture of its own.
#define SLUICE_CONTRACT(part)           \
  class part : public StoreContract {}; \
  SLUICE_OVER_EVERY_STORE(part)

}  // namespace sluice::contract

namespace sluice {
inline void PrintTo(const Uuid& id, std::ostream* out) { *out << id.to_string(); }
inline void PrintTo(Status status, std::ostream* out) { *out << name(status); }
inline void PrintTo(ErrorCode code, std::ostream* out) { *out << name(code); }
inline void PrintTo(Retry retry, std::ostream* out) { *out << name(retry); }
}  // namespace sluice
