// The store seam, auditing: who did what, through which surface and why. Only ever appended to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include "store/administering.hpp"

namespace sluice::store {

/// Empty members match everything.
struct AuditFilter {
  std::string actor;
  std::string surface;
  std::string action;  ///< exact, or a prefix followed by `*`
  std::optional<Uuid> event_id;
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
};

class Auditing {
 public:
  virtual ~Auditing() = default;

  /// Newest first, from the one before `before_id` on.
  virtual Result<std::vector<AuditRecord>> audit(const AuditFilter& filter, int limit,
                                                 std::optional<std::int64_t> before_id) = 0;
};

}  // namespace sluice::store
