#include <algorithm>
#include <numeric>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::AuditRecord;
using store::EventFilter;
using store::HistogramGrid;
using testing::ElementsAre;
using testing::IsEmpty;

class NoteContract : public StoreContract {
 protected:
  std::string fingerprint_of(const Uuid& id) { return event(id).fingerprint.value(); }
  std::vector<std::string> comments(const std::string& fingerprint, int limit = 100) {
    std::vector<std::string> found;
    for (const AuditRecord& record : must(store().audit_of_group(fingerprint, limit))) {
      found.push_back(record.action + " " + record.actor.name + " " + record.actor.reason);
    }
    return found;
  }
};

SLUICE_OVER_EVERY_STORE(NoteContract);

TEST_P(NoteContract, NotesAndAcknowledgementsAreTheCommentsOfAGroup) {
  const std::string fingerprint = fingerprint_of(failed_event());
  EXPECT_EQ(must(store().note(fingerprint, {"ann", "cli", "ticket 4711"})), 1);
  must(store().acknowledge(fingerprint, true, {"bob", "console", "known"}));
  must(store().acknowledge(fingerprint, false, {"bob", "console", "not mended"}));
  must(store().note(fingerprint, {"eve", "http", "again"}));
  EXPECT_THAT(comments(fingerprint), ElementsAre("note eve again", "unacknowledge bob not mended",
                                                 "acknowledge bob known", "note ann ticket 4711"));
  EXPECT_THAT(comments(fingerprint, 2), ElementsAre("note eve again", "unacknowledge bob not mended"));
  EXPECT_THAT(comments("0123456789abcdef"), IsEmpty());
}

TEST_P(NoteContract, ANoteNeedsWordsAndAGroup) {
  const std::string fingerprint = fingerprint_of(failed_event());
  EXPECT_EQ(store().note(fingerprint, {"ann", "cli", ""}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().note("0123456789abcdef", {"ann", "cli", "x"}).error().code, ErrorCode::not_found);
  EXPECT_THAT(comments(fingerprint), IsEmpty());
}

TEST_P(NoteContract, AHistogramCountsDeadLettersByWhenTheyFailed) {
  const Uuid old = failed_event();
  age(1h);
  const Uuid gone = failed_event();
  failed_event();
  failed_event(an_event("other.type"));
  must(store().discard(gone, operator_alice()));
  const Timestamp first = event(old).failed_at.value();
  const Timestamp from{first.time_since_epoch() / Duration{60s} * Duration{60s}};
  EventFilter filter;
  filter.event_type = event(old).envelope.event_type();
  const auto counts = must(store().failure_histogram(filter, {from, 60s, 120}));
  ASSERT_EQ(counts.size(), 120U);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }), 2)
      << "the discarded one and the one of another type are not counted";
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 2);
  const auto early = must(store().failure_histogram(filter, {from, 60s, 1}));
  EXPECT_THAT(early, ElementsAre(1)) << "what failed later is outside";
  const auto late = must(store().failure_histogram(filter, {from + 60s, 60s, 3}));
  EXPECT_THAT(late, ElementsAre(0, 0, 0)) << "what failed before is outside";
}

}  // namespace
}  // namespace sluice::contract
