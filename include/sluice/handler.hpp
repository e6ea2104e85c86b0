// EventHandler: the code that an event reaches, in any of these shapes:
//
//   void (const EventEnvelope&)                       a plain function
//   Task (const EventEnvelope&)                       a coroutine
//   void (std::span<const EventEnvelope>)             a batch
//   void (const EventEnvelope&, Transaction&)         exactly once: effect and dedup row in one transaction
//   void (std::span<const EventEnvelope>, Transaction&)   the same, for a batch
//
// each of them optionally with a last parameter `const Delivery&`. A function may return Verdict instead
// of void; a batch std::vector<Verdict>, one per event. A batch in a transaction returns void and stands or
// falls as one: when it throws, its events are tried one by one.
//
// Returning means handled. Throwing means a failed attempt: TerminalError and what derives from it, a
// payload error, an integrity violation (SQLSTATE class 23) and the classes that the retry policy names
// fail the event at once; everything else is retried.
//
// Delivery is at least once. A handler without a transaction may see an event again after a crash, with
// the same idempotency_key.
//
// Thread-safety: a handler is called from several threads at once, unless its concurrency is 1.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/task.hpp>
#include <sluice/time.hpp>

struct pg_conn;
struct sqlite3;

namespace sluice {

/// What a handler throws to name its error. The class is what the dead-letter queue groups by.
class HandlerError : public std::runtime_error {
 public:
  HandlerError(std::string error_class, const std::string& message)
      : std::runtime_error(message), error_class_(std::move(error_class)) {}
  [[nodiscard]] const std::string& error_class() const { return error_class_; }

 private:
  std::string error_class_;
};

/// Not worth a retry: the event fails at once.
class TerminalError : public HandlerError {
 public:
  explicit TerminalError(const std::string& message) : HandlerError("TerminalError", message) {}
  TerminalError(std::string error_class, const std::string& message) : HandlerError(std::move(error_class), message) {}
};

/// The payload is not what the handler can read; terminal.
class PayloadError : public TerminalError {
 public:
  explicit PayloadError(const std::string& message) : TerminalError("PayloadError", message) {}
};

/// A statement failed. Class 23 (integrity) is terminal, all others are transient.
class SqlError : public HandlerError {
 public:
  SqlError(std::string sqlstate, const std::string& message)
      : HandlerError({}, message), sqlstate_(std::move(sqlstate)) {}
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string sqlstate_;
};

/// What the other side of a delivery answered, for the event's attempt log.
struct Response {
  int status_code = 0;  ///< 0: none
  std::string excerpt;  ///< the beginning of what it said; what is longer than 512 bytes is cut
};

/// How an event went, for handlers that want to say more than by returning or throwing.
struct Verdict {
  enum class Kind { handled, deferred, failed, stopped };
  Kind kind = Kind::handled;
  Timestamp until{};                    ///< deferred, unless `retry_after` is set
  std::string error_class;              ///< failed
  std::string message;                  ///< failed, stopped
  bool terminal = false;                ///< failed: no retry
  std::optional<Duration> retry_after;  ///< failed: not before, as the peer asked; deferred: for this long
  Response response{};                  ///< kept with the attempt

  static Verdict handled() { return {}; }
  /// Not now: comes again at `until`, and no attempt is counted.
  static Verdict defer_until(Timestamp until) { return {Kind::deferred, until, {}, {}, false, {}}; }
  /// The same, this long from the store's now: whoever has no reason to name a time needs no clock.
  static Verdict defer_for(Duration wait) { return {Kind::deferred, {}, {}, {}, false, wait}; }
  /// Cut short by Delivery::stop. When the handler's time had run out it is a timeout; else the event is given back
  /// and no attempt is counted.
  static Verdict stopped(std::string message) { return {Kind::stopped, {}, {}, std::move(message), false, {}}; }
  static Verdict failed(std::string error_class, std::string message) {
    return {Kind::failed, {}, std::move(error_class), std::move(message), false, {}};
  }
};

/// What a handler may want to know about the delivery beside the event.
struct Delivery {
  std::string_view handler_name;
  std::int64_t generation = 0;
  std::vector<int> attempts;  ///< failed attempts since the last replay, before this one, per event
  /// Asked to stop when the claim was lost, the handler's timeout passed, or the process has to end: what
  /// is done from then on may be done again elsewhere. A handler that throws because of it has not failed,
  /// unless its time had run out or what it throws is terminal.
  std::stop_token stop;
  /// The W3C traceparents of the spans that the events are handled in: one per event, or a single one of a batch. Empty
  /// without a tracer.
  std::vector<std::string> traceparents{};
  /// How often each event was replayed or sent again: what tells it from a repeat of an earlier attempt.
  std::vector<std::int64_t> replays{};

  /// That of one event, for the calls that are made on its behalf; empty: none.
  [[nodiscard]] std::string_view traceparent(std::size_t event = 0) const {
    if (traceparents.empty()) return {};
    return traceparents[event < traceparents.size() ? event : 0];
  }
  [[nodiscard]] std::int64_t replay(std::size_t event = 0) const { return event < replays.size() ? replays[event] : 0; }
};

/// The transaction that also records that the handler has handled the event. Statements run on it take
/// effect exactly once, together with that record. Do not commit or roll it back.
class Transaction {
 public:
  using Value = std::optional<std::string>;
  using Row = std::vector<Value>;

  virtual ~Transaction() = default;

  /// Runs one statement with parameters `$1`, `$2`, … as text; returns the rows as text. Throws SqlError.
  virtual std::vector<Row> query(std::string_view sql, std::span<const Value> params) = 0;
  /// The same for a statement without rows; returns how many rows it changed.
  virtual std::int64_t execute(std::string_view sql, std::span<const Value> params) = 0;

  std::vector<Row> query(std::string_view sql, std::initializer_list<Value> params = {}) {
    return query(sql, std::span<const Value>{params.begin(), params.size()});
  }
  std::int64_t execute(std::string_view sql, std::initializer_list<Value> params = {}) {
    return execute(sql, std::span<const Value>{params.begin(), params.size()});
  }

  /// The driver's own handle, for statements of your own; null on the other store.
  [[nodiscard]] virtual pg_conn* postgres() const = 0;
  [[nodiscard]] virtual sqlite3* sqlite() const = 0;
};

namespace detail {

template <class R, class F, class... A>
concept gives_void_or = std::is_invocable_v<F&, A...> &&
    (std::is_void_v<std::invoke_result_t<F&, A...>> || std::is_same_v<std::invoke_result_t<F&, A...>, R>);

using One = const EventEnvelope&;
using Many = std::span<const EventEnvelope>;
using Info = const Delivery&;

template <class F>
concept CoroutineShape = std::is_invocable_r_v<Task, F&, One> || std::is_invocable_r_v<Task, F&, One, Info>;
template <class F>
concept EachOnceShape =
    gives_void_or<Verdict, F, One, Transaction&> || gives_void_or<Verdict, F, One, Transaction&, Info>;
template <class F>
concept BatchOnceShape = gives_void_or<void, F, Many, Transaction&> || gives_void_or<void, F, Many, Transaction&, Info>;
template <class F>
concept EachShape = gives_void_or<Verdict, F, One> || gives_void_or<Verdict, F, One, Info>;
template <class F>
concept BatchShape = gives_void_or<std::vector<Verdict>, F, Many> || gives_void_or<std::vector<Verdict>, F, Many, Info>;
template <class F>
concept HandlerShape = CoroutineShape<F> || EachOnceShape<F> || BatchOnceShape<F> || EachShape<F> || BatchShape<F>;

template <class F, class... A>
auto call(F& f, const Delivery& delivery, A&&... a) {
  if constexpr (std::is_invocable_v<F&, A..., const Delivery&>) {
    return f(std::forward<A>(a)..., delivery);
  } else {
    return f(std::forward<A>(a)...);
  }
}

}  // namespace detail

class EventHandler {
 public:
  using Events = std::span<const EventEnvelope>;
  using Each = std::function<Verdict(const EventEnvelope&, const Delivery&)>;
  using Coroutine = std::function<Task(const EventEnvelope&, const Delivery&)>;
  using Batch = std::function<std::vector<Verdict>(Events, const Delivery&)>;
  using EachOnce = std::function<Verdict(const EventEnvelope&, Transaction&, const Delivery&)>;
  using BatchOnce = std::function<void(Events, Transaction&, const Delivery&)>;
  using Shape = std::variant<Each, Coroutine, Batch, EachOnce, BatchOnce>;

  /// Any callable of the shapes above, also one that can only be moved.
  template <class F>
  requires detail::HandlerShape<F> EventHandler(F f)  // NOLINT(google-explicit-constructor)
      : shape_(shape_of(std::make_shared<F>(std::move(f)))) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  template <class F>
  static Shape shape_of(std::shared_ptr<F> f) {
    using detail::Info;
    using detail::One;
    if constexpr (detail::CoroutineShape<F>) {
      return Coroutine{[f](One event, Info delivery) -> Task { return detail::call(*f, delivery, event); }};
    } else if constexpr (detail::EachOnceShape<F>) {
      return EachOnce{[f](One event, Transaction& transaction, Info delivery) {
        return verdict([&] { return detail::call(*f, delivery, event, transaction); });
      }};
    } else if constexpr (detail::BatchOnceShape<F>) {
      return BatchOnce{[f](Events events, Transaction& transaction, Info delivery) {
        detail::call(*f, delivery, events, transaction);
      }};
    } else if constexpr (detail::EachShape<F>) {
      return Each{[f](One event, Info delivery) { return verdict([&] { return detail::call(*f, delivery, event); }); }};
    } else {
      return Batch{[f](Events events, Info delivery) {
        if constexpr (std::is_void_v<decltype(detail::call(*f, delivery, events))>) {
          detail::call(*f, delivery, events);
          return std::vector<Verdict>(events.size());
        } else {
          return detail::call(*f, delivery, events);
        }
      }};
    }
  }

  template <class Run>
  static Verdict verdict(Run run) {
    if constexpr (std::is_void_v<decltype(run())>) {
      run();
      return {};
    } else {
      return run();
    }
  }

  Shape shape_;
};

}  // namespace sluice
