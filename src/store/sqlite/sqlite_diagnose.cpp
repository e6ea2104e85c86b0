#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr int kOverdueLook = 10'000;  // of new events, and of those that waited

std::int64_t size_of(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : static_cast<std::int64_t>(size);
}

std::string user_name(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> space{};
  const bool known = ::getpwuid_r(user, &entry, space.data(), space.size(), &found) == 0 && found != nullptr;
  return known ? entry.pw_name : std::to_string(user);
}

/// What the file system says; no page is read.
FileFacts look_at_file(const std::string& path) {
  FileFacts file;
  file.path = path;
  file.bytes = size_of(path);
  file.wal_bytes = size_of(path + "-wal");
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    file.owner = user_name(status.st_uid);
    file.permissions = static_cast<unsigned>(status.st_mode) & 0777U;
  }
  std::error_code failure;
  const auto space = std::filesystem::space(path, failure);
  if (!failure) file.disk_free_bytes = static_cast<std::int64_t>(space.available);
  return file;
}

std::vector<std::string> damage_of(Connection& connection) {
  std::vector<std::string> complaints;
  const auto checked =
      connection.each(sql::diagnose_quick_check, {}, [&](Row& row) { complaints.push_back(row.text()); });
  if (!checked) complaints.push_back(checked.error().message);
  if (complaints == std::vector<std::string>{"ok"}) complaints.clear();
  return complaints;
}

/// None: noted as unseen.
template <class Read>
auto look_at(Connection& connection, const std::string& what, const sql::Query& query,
             std::initializer_list<Param> params, Read read, std::vector<Unseen>& unseen)
    -> std::optional<decltype(read(std::declval<Row&>()))> {
  auto found = connection.first(query, params, read);
  if (found) return *std::move(found);
  unseen.push_back({what, std::move(found).error()});
  return std::nullopt;
}

/// None: noted as unseen.
std::optional<StrandedFacts> look_at_stranded(Connection& connection, Timestamp since, std::vector<Unseen>& unseen) {
  StrandedFacts stranded;
  auto found = connection.each(sql::diagnose_stranded, {{":since", since}}, [&](Row& row) {
    StrandedFacts::OfCause one;
    const auto cause = parse_stranded_cause(row.view());
    one.count = row.integer();
    one.latest_id = row.uuid();
    one.latest_at = row.timestamp();
    if (!cause) return;
    one.cause = *cause;
    stranded.causes.push_back(one);
  });
  if (found) return stranded;
  unseen.push_back({"stranded events", std::move(found).error()});
  return std::nullopt;
}

constexpr std::int64_t kOneMore = kGaugeLook + 1;  // tells "all" from "at least"

using ByGeneration = std::map<Generation, GenerationGauges>;

void add_due(GenerationGauges& gauges, std::int64_t events, std::optional<Timestamp> oldest) {
  gauges.due += events;
  if (oldest) gauges.oldest_due = std::min(gauges.oldest_due.value_or(*oldest), *oldest);
}

// Numbers are given in insert order and events are taken from the front: from the first to the last that is left
// nearly all are.
std::int64_t estimated(std::int64_t counted, std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
  if (counted <= kGaugeLook || !first || !last) return counted;
  return std::max(counted, *last - *first + 1);
}

Result<void> count_fresh(Connection& connection, ByGeneration& rows) {
  return connection.each(sql::gauge_fresh, {{":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const std::int64_t counted = row.integer();
    const auto first = row.optional_integer();
    const auto last = row.optional_integer();
    add_due(gauges, estimated(counted, first, last), row.optional_timestamp());
  });
}

Result<void> count_waited(Connection& connection, Timestamp now, ByGeneration& rows) {
  return connection.each(sql::gauge_waited, {{":now", now}, {":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const std::int64_t due = row.integer();
    add_due(gauges, due, row.optional_timestamp());
    gauges.waiting = std::min(row.integer(), kGaugeLook);
  });
}

/// The dead ones in all, as far as they were counted.
Result<std::int64_t> count_others(Connection& connection, ByGeneration& rows) {
  std::int64_t dead = 0;
  auto read = connection.each(sql::gauge_others, {{":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const bool in_flight = row.view() == "in_flight";
    const std::int64_t events = row.integer();
    (in_flight ? gauges.in_flight : gauges.dead) = in_flight ? events : std::min(events, kGaugeLook);
    if (!in_flight) dead += events;
  });
  if (!read) return std::move(read).error();
  return dead;
}

}  // namespace

Result<Diagnosis> SqliteStore::diagnose(DiagnosisDepth depth) {
  const Result<SchemaVersion> schema = schema_version();
  return database_->read([&](Connection& connection) -> Result<Diagnosis> {
    Diagnosis diagnosis;
    std::vector<Unseen>& unseen = diagnosis.unseen;
    FileFacts file = look_at_file(path_);
    const auto text = [](Row& row) { return row.text(); };
    const auto integer = [](Row& row) { return row.integer(); };
    file.journal_mode =
        look_at(connection, "the journal mode", sql::diagnose_journal_mode, {}, text, unseen).value_or("");
    file.free_bytes = look_at(connection, "free pages", sql::diagnose_free_bytes, {}, integer, unseen).value_or(0);
    if (depth == DiagnosisDepth::whole) file.damage = damage_of(connection);
    diagnosis.file = std::move(file);
    // Nothing else can be trusted, or is there at all.
    if (!diagnosis.file->damage.empty() || !schema || schema->applied == 0) return diagnosis;
    diagnosis.expired = look_at(
        connection, "expired claims", sql::diagnose_claims, {{":now", clock_()}, {":limit", kExpiredLook}},
        [](Row& row) {
          const std::int64_t count = row.integer();
          return ExpiredFacts{count, row.optional_timestamp()};
        },
        unseen);
    diagnosis.retention = look_at(
        connection, "what retention would sweep", sql::diagnose_retention, {},
        [](Row& row) {
          auto finished = row.optional_timestamp();
          return RetentionFacts{finished, row.optional_timestamp()};
        },
        unseen);
    diagnosis.stranded = look_at_stranded(connection, clock_() - kStrandedLook, unseen);
    return diagnosis;
  });
}

Result<DueBacklog> SqliteStore::due_backlog() {
  return database_->read([&](Connection& connection) -> Result<DueBacklog> {
    DueBacklog backlog;
    backlog.now = clock_();
    SLUICE_CHECK(connection.each(sql::diagnose_backlog, {{":now", backlog.now}}, [&](Row& row) {
      backlog.count = row.integer();
      backlog.oldest = row.optional_timestamp();
    }));
    return backlog;
  });
}

Result<std::vector<OverdueEvent>> SqliteStore::overdue(const OverdueQuery& query) {
  return database_->read([&](Connection& connection) -> Result<std::vector<OverdueEvent>> {
    const Timestamp now = clock_();
    std::vector<OverdueEvent> events;
    auto listed = connection.each(sql::overdue,
                                  {{":seen", now - query.alive_within},
                                   {":due", now - query.patience},
                                   {":most", kOverdueLook},
                                   {":limit", query.limit}},
                                  [&](Row& row) {
                                    OverdueEvent event;
                                    event.id = row.uuid();
                                    event.event_type = row.text();
                                    event.generation = row.integer();
                                    event.due = row.timestamp();
                                    event.handler_name = row.text();
                                    if (row.boolean()) event.cause = OverdueEvent::Cause::marked_blocked;
                                    events.push_back(std::move(event));
                                  });
    if (!listed) return std::move(listed).error();
    return events;
  });
}

Result<double> SqliteStore::notify_queue_usage() {
  return Error{ErrorCode::invalid, Retry::never, "an embedded store has no NOTIFY queue", "store",
               "the queue exists on PostgreSQL only"};
}

Result<StoreGauges> SqliteStore::gauges() {
  return database_->read([&](Connection& connection) -> Result<StoreGauges> {
    StoreGauges gauges;
    gauges.now = clock_();
    ByGeneration rows;
    SLUICE_CHECK(count_fresh(connection, rows));
    SLUICE_CHECK(count_waited(connection, gauges.now, rows));
    SLUICE_TRY(const auto dead, count_others(connection, rows));
    gauges.dead_capped = dead > kGaugeLook;
    SLUICE_CHECK(connection.each(sql::gauge_numbers, {}, [&](Row& row) {
      gauges.oldest = row.integer();
      gauges.newest = row.integer();
    }));
    for (auto& [generation, row] : rows) {
      row.generation = generation;
      gauges.generations.push_back(row);
    }
    return gauges;
  });
}

}  // namespace sluice::store::sqlite
