// What becomes of each table of the embedded store when it moves.
#pragma once

#include <array>
#include <string_view>

namespace sluice::store {

struct TableFate {
  std::string_view table;
  std::string_view left_behind;  ///< why; empty: it is copied
};

inline constexpr std::array kSqliteTableFates{
    TableFate{"settings", ""},
    TableFate{"deployments", ""},
    TableFate{"subscriptions", ""},
    TableFate{"sinks", ""},
    TableFate{"outbox", ""},
    TableFate{"event_handled", ""},
    TableFate{"operations", ""},
    TableFate{"operation_items", ""},
    TableFate{"audit", ""},
    TableFate{"stranded", ""},
    TableFate{"ladder_samples", ""},
    TableFate{"attempts", ""},
    TableFate{"saved_filters", ""},
    TableFate{"failure_groups", ""},
    TableFate{"delivery_history", "the charts of the new store begin anew"},
    TableFate{"secrets", "the new store signs claims with a secret of its own"},
    TableFate{"workers", "processes that are alive announce themselves anew"},
    TableFate{"patrol", "the patrol of the new store begins anew"},
    TableFate{"sluice_migrations", "the new store has migrations of its own"},
};

}  // namespace sluice::store
