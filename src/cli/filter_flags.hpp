// The flags that say which events are meant: --filter with the grammar, or a flag per key.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "ops/event_list.hpp"
#include "ops/event_query.hpp"

namespace sluice::cli {

/// `--generation` is a global flag and filters too.
std::vector<Option> filter_flags();
/// filter_flags, then --limit and --cursor.
std::vector<Option> page_flags();
/// The first list, then the second.
std::vector<Option> combined(std::vector<Option> first, std::vector<Option> second);

/// The error names the flag. Needs no store, so that a typo costs no connection.
Result<ops::EventQuery> query_of(const Arguments& arguments);

/// The filter, and the page that was asked for.
Result<ops::ListRequest> page_of(const Arguments& arguments, const ops::EventQuery& query, store::Administering& store);

}  // namespace sluice::cli
