#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

std::string role_of(Grant grant) {
  switch (grant) {
    case Grant::publisher:
      return "sluice_publisher";
    case Grant::worker:
      return "sluice_worker";
    case Grant::op:
      return "sluice_operator";
    case Grant::reader:
      return "sluice_reader";
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> PostgresStore::grant(std::optional<Grant> grant, const std::string& member) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_CHECK(lease->script(pg_sql::grant.text));
  std::vector<std::string> done{"sluice_publisher may publish", "sluice_worker may claim and settle, and read",
                                "sluice_operator may replay, discard and move generations, and read",
                                "sluice_reader may read",
                                "sluice_owner, which nobody can log in as, owns the functions"};
  if (grant) {
    const std::string role = role_of(*grant);
    if (Result<void> joined = lease->script("grant " + role + " to " + lease->quote_identifier(member)); !joined) {
      Error error = joined.error();
      error.field = "member";
      return error;
    }
    done.push_back(member + " is a member of " + role);
  }
  return done;
}

}  // namespace sluice::store
