// The four states of an event and the only ways between them. The SQL triggers of both stores and
// the diagram in docs/explanation/states.md are tested against this table.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sluice {

enum class Status { pending, in_flight, delivered, failed };

enum class Cause {
  claim,    ///< a worker takes the event
  deliver,  ///< every subscribed handler has handled it
  retry,    ///< a transient failure, attempts left
  expire,   ///< the claim's time ran out, attempts left
  release,  ///< given back without counting: graceful stop, or deferred by the handler
  fail,     ///< terminal failure, or attempts reached the maximum
  replay,   ///< an operator lets it begin again, with all attempts
  report,   ///< a broker consumer ran out of attempts after a relay
  resend,   ///< an operator sends a delivered event to one handler again
};

struct Edge {
  Status from;
  Status to;
  Cause cause;
};

inline constexpr std::array kEdges{
    Edge{Status::pending, Status::in_flight, Cause::claim},
    Edge{Status::in_flight, Status::delivered, Cause::deliver},
    Edge{Status::in_flight, Status::pending, Cause::retry},
    Edge{Status::in_flight, Status::pending, Cause::expire},
    Edge{Status::in_flight, Status::pending, Cause::release},
    Edge{Status::in_flight, Status::failed, Cause::fail},
    Edge{Status::failed, Status::pending, Cause::replay},
    Edge{Status::delivered, Status::failed, Cause::report},
    Edge{Status::delivered, Status::pending, Cause::resend},
};

inline constexpr std::array kStatuses{Status::pending, Status::in_flight, Status::delivered, Status::failed};

constexpr bool is_legal(Status from, Status to) {
  for (const Edge& edge : kEdges) {
    if (edge.from == from && edge.to == to) return true;
  }
  return false;
}

/// `pending`, `in_flight`, `delivered`, `failed`: the text in SQL, JSON and on the command line.
std::string_view name(Status status);
std::string_view name(Cause cause);
std::optional<Status> parse_status(std::string_view text);

}  // namespace sluice
