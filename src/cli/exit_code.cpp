#include "cli/exit_code.hpp"

namespace sluice::cli {

Exit exit_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid:
      return Exit::usage;
    case ErrorCode::not_found:
      return Exit::not_found;
    case ErrorCode::forbidden:
      return Exit::forbidden;
    case ErrorCode::conflict:
      return Exit::conflict;
    case ErrorCode::unavailable:
      return Exit::unavailable;
    case ErrorCode::timeout:
      return Exit::timed_out;
    case ErrorCode::schema:
    case ErrorCode::exhausted:
    case ErrorCode::read_only:
    case ErrorCode::corrupt:
    case ErrorCode::internal:
      return Exit::failed;
  }
  return Exit::failed;
}

}  // namespace sluice::cli
