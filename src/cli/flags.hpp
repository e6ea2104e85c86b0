// Flags that several commands share: which events, who and why, numbers.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "cli/session.hpp"
#include "ops/event_query.hpp"

namespace sluice::cli {

struct NumberFlag {
  std::string_view name;                        ///< `--limit`
  int fallback = 0;                             ///< where the flag is not given
  int least = std::numeric_limits<int>::min();  ///< left out: what the use case says about it
  int most = std::numeric_limits<int>::max();
};

/// The error names the flag and the range.
Result<int> number_of(const Arguments& arguments, const NumberFlag& flag);

/// The positional ID, which may be the beginning of one.
Result<Uuid> event_argument(const Arguments& arguments, store::Administering& store);

/// What a restored event is: `is pending again`.
std::string restored_words(const store::EventRecord& event);

/// The positional N of a command that changes a generation.
Result<Generation> generation_argument(const Arguments& arguments);

// The flags of a change that the audit keeps: who and why.

Option actor_flag();
Option reason_flag();
/// For changes that are refused without one.
Option required_reason_flag();

/// The refusal of a change without a reason; a dry run needs none.
Result<void> check_reason(const Session& session);

// The flags that say which events are meant: --filter with the grammar, or a flag per key.

/// `--generation` is a global flag and filters too.
std::vector<Option> filter_flags();
/// filter_flags, then --sort, --limit and --cursor.
std::vector<Option> page_flags();
/// The first list, then the second.
std::vector<Option> combined(std::vector<Option> first, std::vector<Option> second);

/// The error names the flag. Needs no store, so that a typo costs no connection.
Result<ops::EventQuery> query_of(const Arguments& arguments);

/// The filter, and the page that was asked for.
Result<ops::ListRequest> page_of(const Arguments& arguments, const ops::EventQuery& query, store::Administering& store);

}  // namespace sluice::cli
