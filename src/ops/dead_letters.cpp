#include "ops/dead_letters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/audit.hpp"
#include "ops/event_json.hpp"
#include "ops/publish_trace.hpp"

namespace sluice::ops {
namespace {

// `<microseconds since the epoch>.<seq>`
std::string cursor_text(const store::DeadCursor& cursor) {
  return std::to_string(cursor.failed_at.time_since_epoch().count()) + '.' + std::to_string(cursor.seq);
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::optional<store::DeadCursor>> read_cursor(const std::optional<std::string>& cursor, bool oldest_first) {
  if (!cursor) return std::optional<store::DeadCursor>{};
  SLUICE_TRY(const auto text, cursor_place(*cursor, oldest_first));
  const std::size_t dot = text.find('.');
  const auto at = number(text.substr(0, dot));
  const auto seq = dot == std::string_view::npos ? std::nullopt : number(text.substr(dot + 1));
  if (!at || !seq) return invalid("cursor", "cursor must be the next_cursor of an earlier page");
  return std::optional{store::DeadCursor{Timestamp{Duration{*at}}, *seq}};
}

}  // namespace

Result<DeadList> list_dead(store::Administering& store, const ListRequest& request) {
  SLUICE_CHECK(check_page(request.limit));
  SLUICE_TRY(const auto after, read_cursor(request.cursor, request.filter.oldest_first));
  SLUICE_TRY(auto page, store.list_dead(request.filter, request.limit, after));
  DeadList list{std::move(page.events), std::nullopt};
  if (page.next) list.next_cursor = cursor_at(cursor_text(*page.next), request.filter.oldest_first);
  return list;
}

Result<DeadCount> count_dead(store::Administering& store, const store::EventFilter& filter, std::int64_t cap) {
  SLUICE_TRY(const auto counted, store.count_dead(filter, cap));
  return DeadCount{counted, counted >= cap};
}

Result<DeadTally> tally_dead(store::Administering& store, std::int64_t cap) {
  SLUICE_TRY(const auto counted, store.count_dead({}, cap));
  if (counted == 0) return DeadTally{};
  SLUICE_TRY(const auto open, store.count_unacknowledged(cap));
  // What failed between the two counts is of the next tally.
  return DeadTally{counted, std::min(open, counted), counted >= cap};
}

std::string in_words(const DeadTally& tally) {
  std::string words = (tally.capped ? "at least " : "") + counted(tally.count, "dead letter");
  if (tally.acknowledged() == 0) return words;
  if (tally.capped) return words + ", " + std::to_string(tally.unacknowledged) + " not acknowledged";
  return words + ", " + std::to_string(tally.acknowledged()) + " acknowledged";
}

Result<std::string> whole_fingerprint(store::Administering& store, const std::string& given, const std::string& field) {
  constexpr std::size_t kWhole = 16;
  constexpr int kNamed = 4;
  if (given.empty()) return invalid(field, field + " must not be empty: it would begin every fingerprint");
  if (given.size() >= kWhole) return given;
  const auto found = store.fingerprints(given, kNamed);
  if (!found) return found.error();
  if (found->empty() || found->front() == given) return given;
  if (found->size() == 1) return found->front();
  const bool more = found->size() == kNamed;
  Error error = invalid(field, "`" + given + "` begins several fingerprints: " + joined(*found, ", ") +
                                   (more ? ", …" : "") + "; give more digits");
  error.hint = "`sluice dlq groups` lists them";
  return error;
}

Result<Acknowledged> acknowledge(store::Administering& store, const std::string& fingerprint, bool known,
                                 const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(auto whole, whole_fingerprint(store, fingerprint, "fingerprint"));
  SLUICE_TRY(const auto groups, store.acknowledge(whole, known, actor));
  return Acknowledged{std::move(whole), known, groups};
}

Result<std::vector<store::FailureGroup>> list_groups(store::Administering& store, const store::EventFilter& filter) {
  return store.failure_groups(filter);
}

Result<std::vector<store::FailureGroup>> preview_acknowledge(store::Administering& store,
                                                             const std::string& fingerprint) {
  store::EventFilter filter;
  SLUICE_TRY(filter.fingerprint, whole_fingerprint(store, fingerprint, "fingerprint"));
  return store.failure_groups(filter);
}

std::string_view state_of(const store::FailureGroup& group) {
  if (!group.acknowledged_at) return "open";
  return group.came_back > 0 ? "came_back" : "acknowledged";
}

std::string to_json(const Acknowledged& done) {
  return JsonObject{}
      .text("fingerprint", done.fingerprint)
      .boolean("acknowledged", done.acknowledged)
      .number("groups", done.groups)
      .str();
}

std::string to_json(const DeadList& list) {
  std::vector<std::string> events;
  for (const auto& event : list.events) events.push_back(to_json(event));
  return JsonObject{}.array("events", events).text("next_cursor", list.next_cursor).str();
}

std::string to_json(const DeadCount& count) {
  return JsonObject{}.number("count", count.count).boolean("capped", count.capped).str();
}

std::string to_json(const store::FailureGroup& group) {
  JsonObject object;
  object.text("event_type", group.event_type)
      .text("source", group.source)
      .text("target", group.target)
      .text("error_class", group.error_class)
      .text("fingerprint", group.fingerprint)
      .number("count", group.count)
      .text("state", state_of(group))
      .time("first_failed_at", group.first_failed_at)
      .time("last_failed_at", group.last_failed_at)
      .number("first_generation", group.first_generation)
      .number("last_generation", group.last_generation)
      .time("first_seen_at", group.first_seen_at)
      .number("replayed", group.replayed)
      .time("acknowledged_at", group.acknowledged_at)
      .text("acknowledged_by", group.acknowledged_by)
      .text("acknowledged_reason", group.acknowledged_reason)
      .number("came_back", group.came_back);
  if (group.came_back_generation) {
    object.number("came_back_generation", *group.came_back_generation);
  } else {
    object.raw("came_back_generation", "null");
  }
  return object.text("sample_error", group.sample_error).str();
}

std::string to_json(const std::vector<store::FailureGroup>& groups) {
  std::vector<std::string> texts;
  std::int64_t count = 0;
  for (const auto& group : groups) {
    texts.push_back(to_json(group));
    count += group.count;
  }
  return JsonObject{}.array("groups", texts).number("count", count).str();
}

Result<store::ReplayReport> replay_event(store::Administering& store, const Uuid& id,
                                         std::optional<Generation> to_generation, const store::Actor& actor,
                                         Tracer* tracer) {
  SLUICE_CHECK(check_reason(actor.reason));
  if (!to_generation) {
    SLUICE_TRY(to_generation, store.default_generation());
  }
  return traced(tracer, store, id, "replay", [&] { return store.replay(id, *to_generation, actor); });
}

Result<void> discard_event(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return store.discard(id, actor);
}

Result<void> restore_event(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return store.restore(id, actor);
}

std::string to_json(const store::ReplayReport& report) {
  return JsonObject{}
      .uuid("event_id", report.event_id)
      .text("status", "pending")
      .number("cycle", report.cycle)
      .number("attempts", report.attempts)
      .number("from_generation", report.from_generation)
      .number("to_generation", report.to_generation)
      .str();
}

std::string discarded_json(const Uuid& id, bool discarded) {
  return JsonObject{}.uuid("event_id", id).boolean("discarded", discarded).str();
}

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
  story.grid =
      histogram_grid(std::min_element(story.groups.begin(), story.groups.end(), earlier)->first_failed_at, now);
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
