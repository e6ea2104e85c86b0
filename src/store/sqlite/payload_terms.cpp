#include "store/sqlite/payload_terms.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/json.hpp"

namespace sluice::store::sqlite {
namespace {

/// `[["order","id"],"4711",false]`, as payload_terms_json has written it.
PayloadTerm read_term(std::string_view raw) {
  const auto parts = json::elements(raw, "terms").value();
  PayloadTerm term;
  const auto path = json::elements(parts.at(0), "terms").value();
  for (const std::string_view part : path) term.path.push_back(json::string_value(part, "terms").value());
  term.value = json::string_value(parts.at(1), "terms").value();
  term.only_text = parts.at(2) == "true";
  return term;
}

std::string_view text_of(sqlite3_value* value) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

using Terms = std::vector<PayloadTerm>;

void payload_has_all(sqlite3_context* context, int, sqlite3_value** values) {
  constexpr int kTerms = 1;
  // The same for every row of a statement: read once.
  auto* terms = static_cast<Terms*>(sqlite3_get_auxdata(context, kTerms));
  std::unique_ptr<Terms> fresh;
  if (terms == nullptr) {
    fresh = std::make_unique<Terms>();
    const auto elements = json::elements(text_of(values[kTerms]), "terms").value();
    for (const std::string_view element : elements) fresh->push_back(read_term(element));
    terms = fresh.get();
  }
  const std::string_view payload = text_of(values[0]);
  const bool all =
      std::all_of(terms->begin(), terms->end(), [&](const PayloadTerm& term) { return payload_has(payload, term); });
  sqlite3_result_int(context, all ? 1 : 0);
  if (fresh) {
    sqlite3_set_auxdata(context, kTerms, fresh.release(), [](void* kept) { delete static_cast<Terms*>(kept); });
  }
}

}  // namespace

std::string payload_terms_json(const std::vector<PayloadTerm>& terms) {
  std::string text = "[";
  for (const PayloadTerm& term : terms) {
    text += text.size() > 1 ? ",[[" : "[[";
    bool first = true;
    for (const std::string& part : term.path) {
      if (!first) text += ',';
      json::append_quoted(text, part);
      first = false;
    }
    text += "],";
    json::append_quoted(text, term.value);
    text += term.only_text ? ",true]" : ",false]";
  }
  return text + ']';
}

int add_payload_function(sqlite3* db) {
  return sqlite3_create_function_v2(db, "payload_has_all", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                    payload_has_all, nullptr, nullptr, nullptr);
}

}  // namespace sluice::store::sqlite
