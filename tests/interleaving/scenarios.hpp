// What can meet what: the sessions whose steps are run in every order.
#pragma once

#include "tests/interleaving/world.hpp"

namespace sluice::test {

/// Two publishers that end late, one by a rollback, and looks back that may move the low mark over them.
Scenario late_commits();
/// The same with workers, and looks that may act on what was seen a moment ago.
Scenario two_looks();
/// More events behind a pending one of their key than a claim has room for.
Scenario little_room();
/// An event that is committed while its predecessor's settle is under way.
Scenario late_successor(World::End end = World::End::delivered);
/// Publishers of one key that commit out of order, the first one's event being tried again.
Scenario out_of_order();
/// A claim that runs out while its settle is under way.
Scenario expiry();
/// An event that is replayed among later ones of its key.
Scenario replayed();
/// An operator cancels the first of a key, and takes that back, while it is claimed and settled.
Scenario cancelled();
/// An operator runs an event now that waits for its retry, while workers claim and look.
Scenario hurried();
/// An event that was delivered is sent again, while it is settled and later ones of its key are claimed.
Scenario sent_again();
/// The only subscriber of what others wait for goes.
Scenario withdrawn();
/// Events of a key that nobody subscribes to any more stand between those that somebody does.
Scenario passers_by();
/// Late commits, while rescans of everything are dear and workers read the numbers that were missing instead.
Scenario missing_numbers();
/// Late commits, while two threads of one process claim and the rescan of one of them stands still or fails.
Scenario one_store();
Scenario one_store_where_rescans_are_dear();
/// Groups that want different events of one key.
Scenario two_groups();
/// Claims that overlap, over one key.
Scenario overlapping_claims();
/// A session's connection ends at any step.
Scenario crashed_publisher();
Scenario crashed_worker();
Scenario crashed_look();
/// The switch is turned while a claim of a listener, or of a relay, is running.
Scenario relay_on();
Scenario relay_back();
/// Consumers that run out of attempts before and after the relay has settled, and an operator who replays.
Scenario reports();

}  // namespace sluice::test
