// From the embedded .sql files to statements.
#pragma once

#include "pg_sql.hpp"
#include "store/postgres/pq.hpp"

namespace sluice::store {

constexpr pq::Statement reading(const pg_sql::Query& query) { return {query.name, query.text, pq::Effect::read}; }
constexpr pq::Statement writing(const pg_sql::Query& query) { return {query.name, query.text, pq::Effect::write}; }

}  // namespace sluice::store
