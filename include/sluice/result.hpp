// Result<T>: a value or an Error that tells the caller what may be done next.
//
// Thread-safety: plain values, no shared state.
//
// Operational failures (a database that is away, a full disk, bad input) are returned, never thrown.
// A bug is an assertion. `Result` borrows the member names of C++23's std::expected.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sluice {

/// What went wrong, in terms a caller can act on.
enum class ErrorCode {
  invalid,      ///< the input is wrong; `field` names the part
  not_found,    ///< the thing that was named does not exist
  forbidden,    ///< the caller's identity may not do this
  conflict,     ///< the state changed since it was read
  unavailable,  ///< the store or peer cannot be reached right now
  schema,       ///< the store's schema is too old or too new for this build
  exhausted,    ///< disk, connections or another bounded resource ran out
  read_only,    ///< the store cannot be written
  corrupt,      ///< the store's content is damaged
  timeout,      ///< a deadline passed
  internal,     ///< anything else; the message carries what the layer below said
};

/// "May I retry?"
enum class Retry {
  never,     ///< the same call will fail the same way
  safe,      ///< nothing was written; try again later
  in_doubt,  ///< the answer was lost: the change may or may not have happened. Only an idempotent
             ///< call (publishing the same id again) may be repeated.
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  Retry retry = Retry::never;
  std::string message;  ///< one sentence for a human, without a final full stop
  std::string field;    ///< the field, flag or key at fault, if there is one
  std::string hint;     ///< what to do next, if we know
};

/// "invalid", "not_found", …: the stable name used in JSON output and logs.
std::string_view name(ErrorCode code);
/// "never", "safe", "in_doubt".
std::string_view name(Retry retry);

/// An Error for bad input: code `invalid`, never retried, naming the field.
Error invalid(std::string field, std::string message);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    assert(has_value());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(has_value());
    return std::get<0>(state_);
  }
  /// By value: a loop over `f().value()` must not outlive what it goes over.
  T value() && {
    assert(has_value());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    assert(!has_value());
    return std::get<1>(state_);
  }
  const Error& error() const& {
    assert(!has_value());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { assert(has_value()); }
  Error& error() & {
    assert(error_);
    return *error_;
  }
  const Error& error() const& {
    assert(error_);
    return *error_;
  }
  Error&& error() && {
    assert(error_);
    return *std::move(error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace sluice
