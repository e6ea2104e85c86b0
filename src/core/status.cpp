#include "core/status.hpp"

namespace sluice {

std::string_view name(Status status) {
  switch (status) {
    case Status::pending:
      return "pending";
    case Status::in_flight:
      return "in_flight";
    case Status::delivered:
      return "delivered";
    case Status::failed:
      return "failed";
  }
  return "pending";
}

std::string_view name(Cause cause) {
  switch (cause) {
    case Cause::claim:
      return "claim";
    case Cause::deliver:
      return "deliver";
    case Cause::retry:
      return "retry";
    case Cause::expire:
      return "expire";
    case Cause::release:
      return "release";
    case Cause::fail:
      return "fail";
    case Cause::replay:
      return "replay";
    case Cause::report:
      return "report";
    case Cause::resend:
      return "resend";
  }
  return "claim";
}

std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : kStatuses) {
    if (name(status) == text) return status;
  }
  return std::nullopt;
}

}  // namespace sluice
