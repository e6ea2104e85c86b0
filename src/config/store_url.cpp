#include "config/store_url.hpp"

#include "core/redact.hpp"

namespace sluice::config {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kAccepted = "give sqlite:PATH or postgres://USER@HOST/DATABASE with --store or SLUICE_STORE";

Error refused(std::string_view origin, std::string message) {
  Error error = invalid("store", std::string{origin} + ": " + std::move(message));
  error.hint = kAccepted;
  return error;
}

}  // namespace

std::string StoreUrl::display() const {
  return kind == Kind::sqlite ? std::string{kSqlite} + location : redact_dsn(location);
}

Result<StoreUrl> parse_store_url(std::string_view text, std::string_view origin) {
  if (text.starts_with("postgres://") || text.starts_with("postgresql://")) {
    return StoreUrl{StoreUrl::Kind::postgres, std::string{text}};
  }
  if (text.starts_with(kSqlite)) {
    std::string_view path = text.substr(kSqlite.size());
    // sqlite:///abs/path is how other tools write it.
    if (path.starts_with("//")) path.remove_prefix(2);
    if (path.empty()) return refused(origin, "the store has no path after `sqlite:`");
    return StoreUrl{StoreUrl::Kind::sqlite, std::string{path}};
  }
  if (text.empty()) return refused(origin, "the store is empty");
  return refused(origin, "`" + redact_dsn(text) + "` is not a store");
}

}  // namespace sluice::config
