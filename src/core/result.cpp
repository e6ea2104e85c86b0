#include <sluice/result.hpp>

namespace sluice {

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::forbidden:
      return "forbidden";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::schema:
      return "schema";
    case ErrorCode::exhausted:
      return "exhausted";
    case ErrorCode::read_only:
      return "read_only";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string_view name(Retry retry) {
  switch (retry) {
    case Retry::never:
      return "never";
    case Retry::safe:
      return "safe";
    case Retry::in_doubt:
      return "in_doubt";
  }
  return "never";
}

Error invalid(std::string field, std::string message) {
  return Error{ErrorCode::invalid, Retry::never, std::move(message), std::move(field), {}};
}

}  // namespace sluice
