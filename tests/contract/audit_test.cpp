#include <algorithm>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::AuditFilter;
using store::AuditRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AuditContract : public StoreContract {
 protected:
  std::vector<std::string> actions(const AuditFilter& filter, int limit = 100) {
    std::vector<std::string> found;
    for (const AuditRecord& record : must(store().audit(filter, limit, {}))) found.push_back(record.action);
    return found;
  }
};

SLUICE_OVER_EVERY_STORE(AuditContract);

TEST_P(AuditContract, NewestFirst) {
  const Uuid id = failed_event();
  must(store().discard(id, {"alice", "cli", "obsolete"}));
  must(store().restore(id, {"bob", "mcp", "a mistake"}));
  must(store().replay(id, 1, {"bob", "http", ""}));
  EXPECT_THAT(actions({}), ElementsAre("replay", "restore", "discard"));
}

TEST_P(AuditContract, ByWhoThroughWhatAndWhich) {
  const Uuid id = failed_event();
  must(store().discard(id, {"alice", "cli", "obsolete"}));
  must(store().restore(id, {"bob", "mcp", "a mistake"}));
  must(store().allocate_generation({}, "", {"alice", "cli", ""}));
  must(store().move_generation(1, GenerationState::live, {"alice", "http", ""}));
  EXPECT_THAT(actions({.actor = "alice"}), ElementsAre("generation.activate", "generation.allocate", "discard"));
  EXPECT_THAT(actions({.surface = "mcp"}), ElementsAre("restore"));
  EXPECT_THAT(actions({.actor = "alice", .surface = "http"}), ElementsAre("generation.activate"));
  EXPECT_THAT(actions({.action = "discard"}), ElementsAre("discard"));
  EXPECT_THAT(actions({.action = "generation.*"}), ElementsAre("generation.activate", "generation.allocate"));
  EXPECT_THAT(actions({.action = "generation"}), IsEmpty());
  EXPECT_THAT(actions({.event_id = id}), ElementsAre("restore", "discard"));
  EXPECT_THAT(actions({.event_id = new_id()}), IsEmpty());
}

TEST_P(AuditContract, ByTime) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  age(1h);
  must(store().restore(id, operator_alice()));
  const Timestamp at = must(store().audit({}, 1, {})).at(0).at;
  AuditFilter since;
  since.since = at;
  EXPECT_THAT(actions(since), ElementsAre("restore"));
  AuditFilter until;
  until.until = at;
  EXPECT_THAT(actions(until), ElementsAre("discard"));
}

TEST_P(AuditContract, PagesMeetWithoutGapOrOverlap) {
  const Uuid id = failed_event();
  for (int n = 0; n < 3; ++n) {
    must(store().discard(id, operator_alice()));
    must(store().restore(id, operator_alice()));
  }
  std::vector<std::int64_t> seen;
  std::optional<std::int64_t> before;
  for (;;) {
    const auto page = must(store().audit({}, 4, before));
    EXPECT_LE(page.size(), 4U);
    if (page.empty()) break;
    for (const AuditRecord& record : page) seen.push_back(record.id);
    before = page.back().id;
  }
  EXPECT_THAT(seen, SizeIs(6));
  EXPECT_TRUE(std::is_sorted(seen.rbegin(), seen.rend()));
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace sluice::contract
