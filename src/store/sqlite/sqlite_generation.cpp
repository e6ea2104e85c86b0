#include "core/try.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

Result<std::optional<Deployment>> find(Connection& connection, Generation generation) {
  return connection.first(sql::deployment_get, {{":generation", generation}}, read_deployment);
}

/// The audit's word for a move, the same as the command's.
std::string_view action(GenerationState to) {
  switch (to) {
    case GenerationState::allocated:
      return "generation.allocate";
    case GenerationState::live:
      return "generation.activate";
    case GenerationState::draining:
      return "generation.drain";
    case GenerationState::retired:
      return "generation.retire";
  }
  return "generation.move";
}

std::string detail(Generation generation) { return "{\"generation\":" + std::to_string(generation) + "}"; }

}  // namespace

Result<bool> is_retired(Connection& connection, Generation generation) {
  SLUICE_TRY(const auto deployment, find(connection, generation));
  return deployment && deployment->state == GenerationState::retired;
}

Result<Generation> default_generation(Connection& connection) {
  SLUICE_TRY(auto newest, connection.first(sql::deployment_default, {}, [](Row& row) { return row.integer(); }));
  return newest.value_or(kFirstGeneration);
}

Result<std::vector<Deployment>> SqliteStore::deployments() {
  return database_->read([&](Connection& connection) -> Result<std::vector<Deployment>> {
    std::vector<Deployment> all;
    SLUICE_CHECK(connection.each(sql::deployment_list, {}, [&](Row& row) { all.push_back(read_deployment(row)); }));
    return all;
  });
}

Result<Deployment> SqliteStore::allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                    const Actor& actor) {
  if (wanted && *wanted < kFirstGeneration) return invalid("generation", "the generation must be at least 1");
  return database_->write([&](Connection& connection) -> Result<Deployment> {
    SLUICE_TRY(auto next, connection.first(sql::deployment_next, {}, [](Row& row) { return row.integer(); }));
    const Generation generation = wanted.value_or(next.value_or(kFirstGeneration));
    const Timestamp now = clock_();
    SLUICE_TRY(
        auto inserted,
        connection.run(sql::deployment_allocate,
                       {{":generation", generation}, {":note", note}, {":changed_by", actor.name}, {":now", now}}));
    if (inserted == 0) {
      return Error{ErrorCode::conflict,
                   Retry::never,
                   "generation " + std::to_string(generation) + " is allocated already",
                   "generation",
                   {}};
    }
    SLUICE_CHECK(
        record_audit(connection, actor, {now, action(GenerationState::allocated), std::nullopt, detail(generation)}));
    SLUICE_TRY(auto allocated, find(connection, generation));
    return *std::move(allocated);
  });
}

Result<Deployment> SqliteStore::move_generation(Generation generation, GenerationState to, const Actor& actor) {
  return database_->write([&](Connection& connection) -> Result<Deployment> {
    SLUICE_TRY(auto current, find(connection, generation));
    if (!current) {
      return Error{ErrorCode::not_found, Retry::never,
                   "generation " + std::to_string(generation) + " was never allocated", "generation",
                   "allocate it first: sluice generation allocate"};
    }
    if (!is_legal(current->state, to)) {
      return Error{ErrorCode::conflict,
                   Retry::never,
                   "generation " + std::to_string(generation) + " is " +
                       (current->state == to
                            ? "already " + std::string{name(to)}
                            : std::string{name(current->state)} + " and cannot become " + std::string{name(to)}),
                   "generation",
                   {}};
    }
    const Timestamp now = clock_();
    SLUICE_CHECK(connection.run(
        sql::deployment_move,
        {{":state", name(to)}, {":changed_by", actor.name}, {":now", now}, {":generation", generation}}));
    SLUICE_CHECK(record_audit(connection, actor, {now, action(to), std::nullopt, detail(generation)}));
    SLUICE_TRY(auto after, find(connection, generation));
    return *std::move(after);
  });
}

/// A file has one writer at a time: an open transaction ends before a generation can be moved, and cannot be seen.
Result<std::vector<OpenPublisher>> SqliteStore::open_publishers(Generation) { return std::vector<OpenPublisher>{}; }

Result<std::int64_t> SqliteStore::reroute(Generation from, Generation to, int limit, const Actor& actor) {
  if (from == to || to < kFirstGeneration) {
    return invalid(
        "to", "expected another generation than " + std::to_string(from) + ", at least 1; got " + std::to_string(to));
  }
  if (limit < 1) return 0;
  auto moved = database_->write([&](Connection& connection) -> Result<std::int64_t> {
    const Timestamp now = clock_();
    auto changed = connection.run(sql::reroute, {{":to", to}, {":now", now}, {":from", from}, {":limit", limit}});
    if (!changed || *changed == 0) return changed;
    std::string text =
        "{\"from_generation\":" + std::to_string(from) + ",\"to_generation\":" + std::to_string(to) + "}";
    SLUICE_CHECK(record_audit(connection, actor, {now, "reroute", std::nullopt, std::move(text), *changed}));
    return changed;
  });
  if (moved && *moved > 0) bell_->notify();
  return moved;
}

Result<bool> SqliteStore::generation_exists(Generation generation) {
  return database_->read([&](Connection& connection) -> Result<bool> {
    SLUICE_TRY(auto exists, connection.first(sql::generation_exists, {{":generation", generation}},
                                             [](Row& row) { return row.boolean(); }));
    return exists.value_or(false);
  });
}

Result<Generation> SqliteStore::default_generation() {
  return database_->read([](Connection& connection) { return sqlite::default_generation(connection); });
}

}  // namespace sluice::store::sqlite
