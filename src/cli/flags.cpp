#include "cli/flags.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::cli {
namespace {

bool has_range(const NumberFlag& flag) { return flag.least != std::numeric_limits<int>::min(); }

std::string range_text(const NumberFlag& flag) {
  if (!has_range(flag)) return "";
  if (flag.most == std::numeric_limits<int>::max()) return " of at least " + std::to_string(flag.least);
  return " from " + std::to_string(flag.least) + " to " + std::to_string(flag.most);
}

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

Result<int> number_of(const Arguments& arguments, const NumberFlag& flag) {
  const auto text = arguments.value(flag.name);
  if (!text) return flag.fallback;
  int number = 0;
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool whole = stop == text->data() + text->size();
  // Too large for an int is too large for the use case, too, which says how large it may be.
  if (whole && problem == std::errc::result_out_of_range) {
    number = text->front() == '-' ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  }
  const bool read = whole && (problem == std::errc{} || !has_range(flag));
  if (read && number >= flag.least && number <= flag.most) return number;
  const std::string name{flag.name};
  return invalid(name, name + " must be a whole number" + range_text(flag));
}

Result<Uuid> event_argument(const Arguments& arguments, store::Administering& store) {
  return ops::whole_id(store, arguments.positionals.front(), "ID");
}

Result<Generation> generation_argument(const Arguments& arguments) {
  return parse_generation(arguments.positional(0).value_or(""), "N");
}

Option actor_flag() {
  return {"--as", "", "NAME", "who the audit names; default: SLUICE_ACTOR, else user@host", {}, "actor"};
}

Option reason_flag() { return {"--reason", "", "TEXT", "why; goes into the audit"}; }

Option required_reason_flag() { return {"--reason", "", "TEXT", "why; required, and goes into the audit"}; }

Result<void> check_reason(const Session& session) {
  if (session.dry_run()) return {};
  return ops::check_reason(session.arguments().value("--reason").value_or(""));
}

std::vector<Option> filter_flags() {
  return {
      {"--filter", "", "FILTER",
       "'type:a.* since:2h text:\"refused\" data.order_id:4711'; keys as the flags, and id, key, text, trace, "
       "data.FIELD, saved"},
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
  return combined(filter_flags(), {{"--sort", "", "ORDER", "newest (default) or oldest first", {"newest", "oldest"}},
                                   {"--limit", "", "N", "at most this many, up to 1000; default 50"},
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
      SLUICE_CHECK(query->add(key, *std::move(value), flag));
    }
  }
  // What can be checked without the store's clock.
  SLUICE_CHECK(query->filter(Timestamp{}));
  return query;
}

Result<ops::ListRequest> page_of(const Arguments& arguments, const ops::EventQuery& query,
                                 store::Administering& store) {
  SLUICE_TRY(auto filter, query.filter(store));
  SLUICE_TRY(filter.oldest_first, ops::oldest_first(arguments.value("--sort").value_or("newest"), "--sort"));
  SLUICE_TRY(const auto limit, number_of(arguments, {"--limit", kDefaultPage, 1, ops::kMaxPage}));
  return ops::ListRequest{std::move(filter), limit, arguments.value("--cursor")};
}

}  // namespace sluice::cli
