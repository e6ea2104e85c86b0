// The dead-letter queue as an operator reads and changes it: groups first, then the list, then one event (event_story);
// replay, discard and restore of one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sluice/tracer.hpp>
#include "ops/event_query.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

struct DeadList {
  std::vector<store::EventRecord> events;  ///< newest failure first
  std::optional<std::string> next_cursor;  ///< none: this was the last page
};
Result<DeadList> list_dead(store::Administering& store, const ListRequest& request);

/// A count that stays cheap however many there are.
struct DeadCount {
  std::int64_t count = 0;
  bool capped = false;  ///< there are at least this many
};
Result<DeadCount> count_dead(store::Administering& store, const store::EventFilter& filter, std::int64_t cap);

/// The dead letters, and how many of them still need somebody. At most `cap` of either are counted.
struct DeadTally {
  std::int64_t count = 0;
  std::int64_t unacknowledged = 0;  ///< of `count`
  bool capped = false;              ///< `count` is at least that

  [[nodiscard]] std::int64_t acknowledged() const { return count - unacknowledged; }
};
Result<DeadTally> tally_dead(store::Administering& store, std::int64_t cap);
/// `5 dead letters, 4 acknowledged`
std::string in_words(const DeadTally& tally);

/// The most numerous first.
Result<std::vector<store::FailureGroup>> list_groups(store::Administering& store, const store::EventFilter& filter);

/// The fingerprint that `given` is the beginning of; `given` itself where nothing failed like that. Refused, naming
/// `field`, where it is empty or several begin so.
Result<std::string> whole_fingerprint(store::Administering& store, const std::string& given, const std::string& field);

/// open: nobody said that they know; came_back: somebody did, and it happened again since.
std::string_view state_of(const store::FailureGroup& group);

/// The groups of a fingerprint that somebody knows about, or that nobody does any more.
struct Acknowledged {
  std::string fingerprint;
  bool acknowledged = true;
  std::int64_t groups = 0;
};

/// Marks every group of the fingerprint, which may be its beginning. not_found when nothing ever failed like that.
/// Needs a reason.
Result<Acknowledged> acknowledge(store::Administering& store, const std::string& fingerprint, bool known,
                                 const store::Actor& actor);

/// The groups with dead letters that it would mark. Changes nothing.
Result<std::vector<store::FailureGroup>> preview_acknowledge(store::Administering& store,
                                                             const std::string& fingerprint);

std::string to_json(const Acknowledged& done);
std::string to_json(const DeadList& list);
std::string to_json(const DeadCount& count);
std::string to_json(const store::FailureGroup& group);
/// `{"groups":[…],"count":N}`
std::string to_json(const std::vector<store::FailureGroup>& groups);

// Replay, discard and restore of one dead letter.

/// In place, into the given generation or else the store's newest live one. Needs a reason: the audit keeps
/// it. conflict when the event is not a dead letter (any more). With a tracer it is a span of the event's trace.
Result<store::ReplayReport> replay_event(store::Administering& store, const Uuid& id,
                                         std::optional<Generation> to_generation, const store::Actor& actor,
                                         Tracer* tracer = nullptr);

std::string to_json(const store::ReplayReport& report);
/// Both need a reason. conflict when the event is in no state for it.
Result<void> discard_event(store::Administering& store, const Uuid& id, const store::Actor& actor);
Result<void> restore_event(store::Administering& store, const Uuid& id, const store::Actor& actor);

/// Of a discard or a restore.
std::string discarded_json(const Uuid& id, bool discarded);

// One group of failures as an operator looks at it: when it happened, a few of its events, and what people said about
// it.

/// At most so many stretches, each of a length that people count in: seconds, minutes, hours, days.
inline constexpr int kMostStretches = 60;
/// From the first failure to now. Pure.
store::HistogramGrid histogram_grid(Timestamp first, Timestamp now);

struct GroupStory {
  std::string fingerprint;
  std::vector<store::FailureGroup> groups;  ///< with dead letters now, the most numerous first; may be none
  store::HistogramGrid grid;
  std::vector<std::int64_t> histogram;       ///< of `groups`, by when they failed; empty where there are none
  std::vector<store::EventRecord> samples;   ///< the newest failures, without payloads
  std::vector<store::AuditRecord> comments;  ///< notes and acknowledgements, newest first
};

/// The fingerprint may be its beginning. not_found when nothing ever failed like that.
Result<GroupStory> tell_group(store::Administering& store, const std::string& fingerprint);

struct Noted {
  std::string fingerprint;
  std::string note;
};
/// Adds a note, which is a record of the audit: nobody can change it. not_found when nothing ever failed like that.
Result<Noted> note_group(store::Administering& store, const std::string& fingerprint, const store::Actor& author,
                         const std::string& text);

std::string to_json(const GroupStory& story);
std::string to_json(const Noted& noted);

}  // namespace sluice::ops
