"""Guards of searches, of the order of lists and of the indexes for them; see table.py."""
from mutant import Mutant, contract, integration

QUERY = "src/ops/event_query.cpp"
STEPS = "src/store/postgres/sql/query/index_steps.sql"

SEARCHES = [
    Mutant("search-bound", "A search by payload that no index serves needs a time range", "ops_test", "Search.WithoutAnIndexItNeedsATimeRange",
           ((QUERY, "if (!indexed) return unbounded(store, name_of(", "if (!indexed && filter.until && !filter.until) return unbounded(store, name_of("),)),
    Mutant("search-bound-trace", "So does one by trace", "ops_test", "Search.WithoutAnIndexItNeedsATimeRange",
           ((QUERY, "if (!indexed) return unbounded(store, \"trace\"", "if (!indexed && filter.trace_id.empty()) return unbounded(store, \"trace\""),)),
    Mutant("search-quoted", "In quotes a value is a string", "unit_test", "PayloadMatch.QuotedIsAStringAlone",
           (("src/core/payload_match.cpp", "if (term.only_text || term.value.size()", "if (term.value.size()"),)),
    Mutant("search-canonical", "A field is written in one way, so it stands in a filter once", "ops_test", "EventQuery.APathIsWrittenInOneWay",
           ((QUERY, "if (path) return name_of(PayloadTerm{std::move(*path), {}});", "if (path) return std::string{key};"),)),
    Mutant("search-path", "A quoted field is the field, so a hidden one stays hidden", "mcp_test",
           "DeadLetterToolsTest.WhatIsHiddenCannotBeSearchedFor",
           (("src/core/payload_match.cpp", "part = take_quoted(name);", "const auto from = name; if (take_quoted(name)) part = from.substr(0, from.size() - name.size());"),)),
    contract("search-escape", "No value ends the text that it is looked for in", "SearchContract.NoTextIsTooOddToLookFor",
             (("src/store/postgres/postgres_search.cpp", "\" == \" + json::quote(term.value)", "\" == \\\"\" + term.value + '\"'"),)),
    contract("search-dead", "A plan takes what the search found, not more", "SearchContract.DeadLettersInListsCountsGroupsAndPlans",
             (("src/store/postgres/postgres_records.cpp", "      .text(\"payload\", payload_condition(filter.payload))\n", ""),)),
    contract("search-dead-sqlite", "The same on SQLite", "SearchContract.DeadLettersInListsCountsGroupsAndPlans",
             (("src/store/sqlite/sql/part/dead_filter.sql", "(:payload is null or payload_has_all(payload, :payload))", "(:payload is null or true)"),),
             "sqlite"),
    Mutant("sort-cursor", "A cursor of the other sort is refused", "ops_test", "EventListing.ACursorOfTheOtherSortIsRefused",
           (("src/ops/event_list.cpp", "  if (of_oldest != oldest_first) {", "  if (of_oldest && !oldest_first && cursor.empty()) {"),)),
    contract("sort-dead-since-sqlite", "Oldest first begins at its time", "SearchContract.OldestFirstKeepsToTheTimes",
             (("src/store/sqlite/query_params.cpp", "from = DeadCursor{*filter.since, 0};", "from = after;"),), "sqlite"),
    integration("index-invalid", "An index that a kill left is made again", "PostgresSearch.WhatAKillLeftIsMadeAgain",
                (STEPS, "and o.valid is not true", "and o.index is null")),
    integration("index-incomplete", "An index that not every partition has does not count", "PostgresSearch.AKillBetweenPartitionsIsGoneOnFrom",
                ("src/store/postgres/sql/query/index_ready.sql", " and i.indisvalid)\n   and not exists", ")\n   and not exists")),
    integration("index-lock", "One at a time", "PostgresSearch.OneAtATime",
                ("src/store/postgres/postgres_search.cpp", "if (!locked.boolean(0, 0)) {", "if (locked.empty()) {")),
    Mutant("saved-nested", "A saved filter names no other", "ops_test", "Search.ASavedFilterIsChecked",
           (("src/ops/search.cpp", "if (query.has(\"saved\")) return", "if (query.has(\"saved\") && query.empty()) return"),)),
]
