#include "store/postgres/notification_lock.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;

// While publishers hold the bell the workers claim this often; longer the longer it takes.
constexpr auto kShortestBellRest = 2ms;
constexpr auto kLongestBellRest = 20ms;
constexpr auto kMarkRest = 50ms;

}  // namespace

Result<NotificationLock> NotificationLock::take(const pq::ConnectOptions& options, std::string channel,
                                                Observer observer) {
  SLUICE_TRY(pq::Connection connection, pq::Connection::open(options));
  return NotificationLock{std::move(connection), std::move(channel), std::move(observer)};
}

NotificationLock::NotificationLock(pq::Connection connection, std::string channel, Observer observer)
    : connection_(std::move(connection)), channel_(std::move(channel)), observer_(std::move(observer)) {}

void NotificationLock::enter(State state, std::string_view name) {
  state_ = state;
  next_step_.reset();
  if (observer_) observer_(name);
}

Result<bool> NotificationLock::ask(const pq::Statement& statement) {
  SLUICE_TRY(const pq::Rows rows, connection_.run(statement, pq::Params{}.text(std::string_view{channel_})));
  return rows.boolean(0, 0);
}

Result<void> NotificationLock::wake() {
  if (state_ == State::last || state_ == State::asleep) {
    SLUICE_CHECK(connection_.run(reading(pg_sql::notification_lock_free)));
    state_ = State::unmarked;
    next_step_ = Clock::now();
  }
  return {};
}

Result<bool> NotificationLock::try_bell() {
  Result<bool> got = ask(reading(pg_sql::notification_lock_take));
  if (!got) return got;
  if (*got) {
    enter(State::asleep, "asleep");
  } else {
    bell_rest_ = std::min<Clock::duration>(bell_rest_ * 2, kLongestBellRest);
    again_in(bell_rest_);
    if (observer_) observer_("bell");
  }
  return true;  // claim: before sleeping, or because the publishers will not notify
}

Result<bool> NotificationLock::step(bool busy) {
  next_step_.reset();
  if (state_ == State::requested) {
    SLUICE_CHECK(connection_.consume());
    std::optional<Result<pq::Rows>> granted = connection_.finished();
    if (!granted) return false;
    if (!*granted) return granted->error();
    bell_rest_ = kShortestBellRest;
    enter(State::last, "last");
  }
  if (busy && (state_ == State::last || state_ == State::asleep)) {
    SLUICE_CHECK(wake());
  }
  if (busy && state_ == State::unmarked) {
    Result<bool> marked = ask(reading(pg_sql::notification_lock_mark));
    if (!marked) return marked;
    *marked ? enter(State::awake, "awake") : again_in(kMarkRest);
    return false;
  }
  if (busy || state_ == State::asleep) return false;
  if (state_ == State::last) return try_bell();
  if (state_ == State::awake) {
    Result<bool> freed = ask(reading(pg_sql::notification_lock_unmark));
    if (!freed) return freed;
  }
  const pq::Params channel = pq::Params{}.text(std::string_view{channel_});
  SLUICE_CHECK(connection_.send(reading(pg_sql::notification_lock_request), channel));
  enter(State::requested, "requested");
  return false;
}

}  // namespace sluice::store
