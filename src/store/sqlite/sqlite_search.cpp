// Filters that a team keeps.
#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

std::string filter_detail(const std::string& name, const std::string& filter) {
  return "{\"name\":" + json::quote(name) + ",\"filter\":" + json::quote(filter) + "}";
}

}  // namespace

Result<std::vector<SavedFilter>> SqliteStore::saved_filters() {
  return database_->read([&](Connection& connection) -> Result<std::vector<SavedFilter>> {
    std::vector<SavedFilter> saved;
    SLUICE_CHECK(connection.each(sql::filter_list, {}, [&](Row& row) {
      SavedFilter one;
      one.name = row.text();
      one.filter = row.text();
      one.saved_by = row.text();
      one.saved_at = row.timestamp();
      saved.push_back(std::move(one));
    }));
    return saved;
  });
}

Result<SavedFilter> SqliteStore::save_filter(const std::string& name, const std::string& filter, const Actor& actor) {
  if (name.empty() || filter.empty()) return invalid("name", "a saved filter needs a name and a filter");
  return database_->write([&](Connection& connection) -> Result<SavedFilter> {
    const SavedFilter saved{name, filter, actor.name, clock_()};
    SLUICE_CHECK(connection.run(sql::filter_save, {{":name", saved.name},
                                                   {":filter", saved.filter},
                                                   {":saved_by", saved.saved_by},
                                                   {":saved_at", saved.saved_at}}));
    SLUICE_CHECK(
        record_audit(connection, actor, {saved.saved_at, "filter.save", std::nullopt, filter_detail(name, filter)}));
    return saved;
  });
}

Result<void> SqliteStore::remove_filter(const std::string& name, const Actor& actor) {
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_TRY(const auto filter,
               connection.first(sql::filter_remove, {{":name", name}}, [](Row& row) { return row.text(); }));
    if (!filter) return Error{ErrorCode::not_found, Retry::never, "no filter is saved as " + name, "name", {}};
    return record_audit(connection, actor, {clock_(), "filter.remove", std::nullopt, filter_detail(name, *filter)});
  });
}

}  // namespace sluice::store::sqlite
