// What an operator changes of one event.
#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

ReplayReport replay_report(const pq::Rows& rows, const Uuid& id, Generation generation) {
  return {id, rows.int4(0, 0), rows.int4(0, 1), rows.int8(0, 2), generation};
}

}  // namespace

Result<ReplayReport> PostgresStore::replay(const Uuid& id, Generation new_generation, const Actor& actor) {
  pq::Params params;
  params.uuid(id).int8(new_generation);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::replay), add(params, actor)));
  return replay_report(rows, id, new_generation);
}

Result<void> PostgresStore::tombstone(const Uuid& id, bool discard, const Actor& actor) {
  pq::Params params;
  params.uuid(id).boolean(discard);
  SLUICE_CHECK(run(writing(pg_sql::tombstone), add(params, actor)));
  return {};
}

Result<void> PostgresStore::discard(const Uuid& id, const Actor& actor) { return tombstone(id, true, actor); }
Result<void> PostgresStore::restore(const Uuid& id, const Actor& actor) { return tombstone(id, false, actor); }

Result<ReplayReport> PostgresStore::send_to(const HandlerReplay& request, const Actor& actor) {
  pq::Params params;
  params.uuid(request.event_id).text(std::string_view{request.handler_name}).text(name(request.from));
  params.int8(request.generation);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::send_to), add(params, actor)));
  return replay_report(rows, request.event_id, request.generation);
}

Result<ReplayReport> PostgresStore::replay_edited(const EditedReplay& request, const Actor& actor) {
  pq::Params params;
  params.uuid(request.event_id).jsonb(request.payload).int8(request.generation).int8(request.most);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::replay_edited), add(params, actor)));
  return replay_report(rows, request.event_id, request.generation);
}

Result<void> PostgresStore::schedule(const Uuid& id, std::optional<Timestamp> due, const Actor& actor) {
  pq::Params params;
  params.uuid(id).timestamptz(due);
  SLUICE_CHECK(run(writing(pg_sql::schedule), add(params, actor)));
  return {};
}

Result<void> PostgresStore::cancel(const Uuid& id, const Actor& actor) {
  pq::Params params;
  params.uuid(id);
  SLUICE_CHECK(run(writing(pg_sql::cancel), add(params, actor)));
  return {};
}

}  // namespace sluice::store
