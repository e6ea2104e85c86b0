// Terms of a search on their way into a statement, where the function payload_has_all reads them.
#pragma once

#include <string>
#include <vector>

#include "core/payload_match.hpp"

struct sqlite3;

namespace sluice::store::sqlite {

std::string payload_terms_json(const std::vector<PayloadTerm>& terms);

/// Gives the connection `payload_has_all(payload, terms)`. Returns SQLite's code.
int add_payload_function(sqlite3* db);

}  // namespace sluice::store::sqlite
