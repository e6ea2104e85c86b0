// What PostgreSQL said, as an Error: the one place that knows SQLSTATEs.
#pragma once

#include <string_view>

#include "store/postgres/pq.hpp"

struct pg_conn;

namespace sluice::store::pq {

/// A refused or failed connection attempt; nothing was written. `where` is the redacted DSN.
Error connect_error(std::string_view message, std::string_view where);

/// An SQLSTATE (empty when the connection broke) with the server's primary message.
Error translate(std::string_view sqlstate, std::string_view message, Effect effect);

/// The server had not the memory, or the value is larger than it can write: less of it may work.
bool is_out_of_memory(const Error& error);

/// ok for a result that carries rows or a command tag, else the translated error.
Result<void> check(pg_conn* connection, const Rows& rows, Effect effect);

/// The SQLSTATE of a failed result, or empty.
std::string_view last_sqlstate(const Rows& rows);

}  // namespace sluice::store::pq
