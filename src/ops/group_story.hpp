// One group of failures as an operator looks at it: when it happened, a few of its events, and what people said about it.
#pragma once

#include <string>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

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
