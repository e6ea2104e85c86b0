#include "cli/filter_flags.hpp"

#include <array>
#include <utility>

#include "cli/numbers.hpp"

namespace sluice::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFlags{{
    {"--type", "type"},
    {"--source", "source"},
    {"--target", "target"},
    {"--class", "class"},
    {"--fingerprint", "fp"},
    {"--generation", "gen"},
    {"--workspace", "workspace"},
    {"--since", "since"},
    {"--until", "until"},
}};

constexpr int kDefaultPage = 50;

}  // namespace

std::vector<Option> filter_flags() {
  return {
      {"--filter", "", "FILTER",
       "'type:a.* class:timeout since:2h text:\"refused\"'; keys as the flags, and id, key, text"},
      {"--type", "", "TYPE", "exact type, or a prefix followed by *"},
      {"--source", "", "CONTEXT", "producing context"},
      {"--target", "", "CONTEXT", "receiving context"},
      {"--class", "", "CLASS", "error class, such as TimeoutError or timeout"},
      {"--fingerprint", "", "HEX", "fingerprint of the error, or its beginning, as `dlq groups` shows it"},
      {"--workspace", "", "UUID", "workspace"},
      {"--since", "", "TIME", "not before: 2h (ago) or 2026-04-25T01:43:02Z"},
      {"--until", "", "TIME", "before, in the same forms"},
  };
}

std::vector<Option> combined(std::vector<Option> first, std::vector<Option> second) {
  for (Option& option : second) first.push_back(std::move(option));
  return first;
}

std::vector<Option> page_flags() {
  return combined(filter_flags(), {{"--limit", "", "N", "at most this many, up to 1000; default 50"},
                                   {"--cursor", "", "CURSOR", "continue where the page before ended"}});
}

Result<ops::EventQuery> query_of(const Arguments& arguments) {
  auto query = ops::EventQuery::parse(arguments.value("--filter").value_or(""));
  if (!query) {
    Error error = std::move(query).error();
    error.field = "--filter";
    error.message = "--filter: " + error.message;
    return error;
  }
  for (const auto& [flag, key] : kFlags) {
    if (auto value = arguments.value(flag)) {
      if (auto added = query->add(key, *std::move(value), flag); !added) return std::move(added).error();
    }
  }
  // What can be checked without the store's clock.
  if (const auto checked = query->filter(Timestamp{}); !checked) return checked.error();
  return query;
}

Result<ops::ListRequest> page_of(const Arguments& arguments, const ops::EventQuery& query,
                                 store::Administering& store) {
  auto filter = query.filter(store);
  if (!filter) return std::move(filter).error();
  const auto limit = number_of(arguments, {"--limit", kDefaultPage, 1, ops::kMaxPage});
  if (!limit) return limit.error();
  return ops::ListRequest{*std::move(filter), *limit, arguments.value("--cursor")};
}

}  // namespace sluice::cli
