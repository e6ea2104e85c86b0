// From the embedded .sql files to statements.
#pragma once

#include "pg_sql.hpp"
#include "store/postgres/pq.hpp"

namespace sluice::store {

constexpr pq::Statement reading(const pg_sql::Query& query) { return {query.name, query.text, pq::Effect::read}; }
constexpr pq::Statement writing(const pg_sql::Query& query) { return {query.name, query.text, pq::Effect::write}; }

/// For a search: planned anew each time, because which index serves it depends on what is looked for.
constexpr pq::Statement searching(const pg_sql::Query& query, bool searches) {
  return {query.name, query.text, pq::Effect::read, !searches};
}

}  // namespace sluice::store
