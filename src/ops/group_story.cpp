#include "ops/group_story.hpp"

#include <algorithm>
#include <array>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_json.hpp"

namespace sluice::ops {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<Duration, 13> kSteps{seconds{10}, seconds{30}, minutes{1}, minutes{5}, minutes{15},
                                          minutes{30}, hours{1},    hours{3},   hours{6},   hours{12},
                                          hours{24},   hours{168},  hours{720}};
constexpr int kSamples = 10;
constexpr int kComments = 200;

Error never_failed(const std::string& fingerprint) {
  return {ErrorCode::not_found, Retry::never, "nothing ever failed with the fingerprint '" + fingerprint + "'",
          "fingerprint", "list the fingerprints: sluice dlq groups"};
}

}  // namespace

store::HistogramGrid histogram_grid(Timestamp first, Timestamp now) {
  const Timestamp last = std::max(first, now);
  // One more than fits, because the first stretch begins before the first failure.
  const auto* step = std::find_if(kSteps.begin(), kSteps.end() - 1,
                                  [&](Duration one) { return (last - first) / one < kMostStretches - 1; });
  const Timestamp from{first.time_since_epoch() / *step * *step};
  const auto stretches = std::min<std::int64_t>(kMostStretches, (last - from) / *step + 1);
  return {from, *step, static_cast<int>(stretches)};
}

Result<GroupStory> tell_group(store::Administering& store, const std::string& fingerprint) {
  GroupStory story;
  SLUICE_TRY(story.fingerprint, whole_fingerprint(store, fingerprint, "fingerprint"));
  store::EventFilter filter;
  filter.fingerprint = story.fingerprint;
  filter.heads_only = true;
  SLUICE_TRY(story.groups, store.failure_groups(filter));
  SLUICE_TRY(story.comments, store.audit_of_group(story.fingerprint, kComments));
  if (story.groups.empty()) {
    SLUICE_TRY(const auto known, store.fingerprints(story.fingerprint, 1));
    if (known.empty() || known.front() != story.fingerprint) return never_failed(story.fingerprint);
    return story;
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.first_failed_at < b.first_failed_at; };
  SLUICE_TRY(const auto now, store.now());
  story.grid = histogram_grid(std::min_element(story.groups.begin(), story.groups.end(), earlier)->first_failed_at, now);
  SLUICE_TRY(story.histogram, store.failure_histogram(filter, story.grid));
  SLUICE_TRY(auto page, store.list_dead(filter, kSamples, std::nullopt));
  story.samples = std::move(page.events);
  return story;
}

Result<Noted> note_group(store::Administering& store, const std::string& fingerprint, const store::Actor& author,
                         const std::string& text) {
  if (auto checked = check_reason(text); !checked) {
    Error error = std::move(checked).error();
    return invalid("text", "text" + error.message.substr(std::string_view{"reason"}.size()));
  }
  SLUICE_TRY(auto whole, whole_fingerprint(store, fingerprint, "fingerprint"));
  SLUICE_CHECK(store.note(whole, {author.name, author.surface, text}));
  return Noted{std::move(whole), text};
}

std::string to_json(const GroupStory& story) {
  std::vector<std::string> groups;
  std::vector<std::string> counts;
  std::vector<std::string> comments;
  std::int64_t count = 0;
  for (const auto& group : story.groups) {
    groups.push_back(to_json(group));
    count += group.count;
  }
  for (const std::int64_t stretch : story.histogram) counts.push_back(std::to_string(stretch));
  for (const auto& comment : story.comments) comments.push_back(to_json(comment));
  const auto step = std::chrono::duration_cast<seconds>(story.grid.step).count();
  const std::string histogram =
      JsonObject{}.time("from", story.grid.from).number("bucket_seconds", step).array("counts", counts).str();
  return JsonObject{}
      .text("fingerprint", story.fingerprint)
      .number("count", count)
      .array("groups", groups)
      .raw("histogram", story.groups.empty() ? "null" : histogram)
      .array("samples", event_heads(story.samples))
      .array("comments", comments)
      .str();
}

std::string to_json(const Noted& noted) {
  return JsonObject{}.text("fingerprint", noted.fingerprint).text("text", noted.note).str();
}

}  // namespace sluice::ops
