#include "store/postgres/postgres_listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "host/entropy.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

// Only this connection's, so that nobody else is woken by its probes.
std::string fresh_probe_channel() {
  return "sluice_probe_" + std::to_string(host::random_number()) + "_" + std::to_string(host::random_number());
}

}  // namespace

Result<std::unique_ptr<ListenerConnection>> PostgresListener::open(ListenerOptions options, pq::Pool& notes) {
  SLUICE_TRY(pq::Connection connection, pq::Connection::open(options.connection));
  std::unique_ptr<PostgresListener> listener{new PostgresListener{std::move(options), notes, std::move(connection)}};
  SLUICE_CHECK(listener->start());
  return std::unique_ptr<ListenerConnection>{std::move(listener)};
}

PostgresListener::PostgresListener(ListenerOptions options, pq::Pool& notes, pq::Connection connection)
    : options_(std::move(options)),
      notes_(notes),
      connection_(std::move(connection)),
      signal_descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

PostgresListener::~PostgresListener() {
  if (signal_descriptor_ >= 0) ::close(signal_descriptor_);
}

Result<void> PostgresListener::start() {
  if (signal_descriptor_ < 0) return Error{ErrorCode::exhausted, Retry::safe, "no descriptor is left", {}, {}};
  std::string listen;
  std::vector<std::string> channels = options_.channels;
  channels.push_back(options_.probe_channel);
  // One statement each: within one implicit transaction LISTEN takes effect at its end, which is the same.
  for (const std::string& channel : channels) listen += "listen " + connection_.quote_identifier(channel) + ";";
  SLUICE_CHECK(connection_.script(listen, pq::Effect::read));
  SLUICE_TRY(const pq::Rows pid, connection_.run(reading(pg_sql::backend_pid)));
  if (pid.int4(0, 0) != connection_.backend_pid()) obstacle_ = "a connection pooler stands between";
  return follow_mode();
}

Result<void> PostgresListener::follow_mode() {
  SLUICE_TRY(pq::Pool::Lease lease, notes_.lease());
  SLUICE_TRY(const pq::Rows mode, lease->run(reading(pg_sql::doorbell_mode)));
  const bool when_idle = !mode.empty() && mode.text(0, 0) == name(DoorbellMode::when_idle);
  if (when_idle != locks_.empty()) return {};
  locks_.clear();
  locks_in_use_ = when_idle;
  if (!when_idle) return {};
  for (const std::string& channel : options_.channels) {
    SLUICE_TRY(NotificationLock lock, NotificationLock::take(options_.connection, channel, options_.observer));
    locks_.push_back(std::move(lock));
  }
  return {};
}

Result<Heard> PostgresListener::wait(Duration at_most) {
  const auto deadline = NotificationLock::Clock::now() + at_most;
  SLUICE_CHECK(finish_waking());
  if (std::exchange(echoed_, false)) return Heard::echo;
  while (true) {
    Result<Heard> heard = read_notes();
    if (!heard) return heard;
    // The workers are told first; the locks are given back when they are under way.
    waking_ = *heard == Heard::notification;
    if (*heard != Heard::nothing) return heard;
    SLUICE_TRY(const bool look, step_locks());
    if (look) return Heard::notification;
    if (interrupted_.exchange(false) || NotificationLock::Clock::now() >= deadline) return Heard::nothing;
    SLUICE_CHECK(poll_until(deadline));
  }
}

Result<void> PostgresListener::finish_waking() {
  if (!std::exchange(waking_, false)) return {};
  for (NotificationLock& lock : locks_) {
    SLUICE_CHECK(lock.wake());
  }
  return {};
}

// All that has been read counts as one: a notification says "claim", not "how much". A probe that came back among
// them is told by the next wait.
Result<Heard> PostgresListener::read_notes() {
  SLUICE_CHECK(connection_.consume());
  Heard heard = Heard::nothing;
  events_.clear();
  bool all_named = true;
  while (const auto note = connection_.notification()) {
    if (note->channel != options_.probe_channel) {
      heard = Heard::notification;
      // A publish names its event; what else makes events claimable need not.
      if (const auto event = Uuid::parse(note->payload)) {
        events_.push_back(*event);
      } else {
        all_named = false;
      }
    } else {
      echoed_ = true;
    }
  }
  if (!all_named) events_.clear();
  if (heard == Heard::nothing && std::exchange(echoed_, false)) return Heard::echo;
  return heard;
}

Result<bool> PostgresListener::step_locks() {
  bool look = false;
  for (NotificationLock& lock : locks_) {
    Result<bool> stepped = lock.step(busy_);
    if (!stepped) return stepped;
    look = look || *stepped;
  }
  return look;
}

Result<void> PostgresListener::poll_until(NotificationLock::Clock::time_point deadline) {
  std::vector<pollfd> descriptors{{connection_.socket(), POLLIN, 0}, {signal_descriptor_, POLLIN, 0}};
  for (const NotificationLock& lock : locks_) {
    descriptors.push_back({lock.socket(), POLLIN, 0});
    if (lock.next_step()) deadline = std::min(deadline, *lock.next_step());
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - NotificationLock::Clock::now()).count();
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
  std::uint64_t count = 0;
  while (::read(signal_descriptor_, &count, sizeof count) > 0) {
  }
  return {};
}

Result<void> PostgresListener::notify(const std::string& channel) {
  SLUICE_TRY(pq::Pool::Lease lease, notes_.lease());
  SLUICE_CHECK(
      lease->run(reading(pg_sql::notify), pq::Params{}.text(std::string_view{channel}).text(std::string_view{})));
  return {};
}

Result<void> PostgresListener::probe() {
  SLUICE_CHECK(follow_mode());
  return notify(options_.probe_channel);
}

Result<void> PostgresListener::wake_others() {
  // Where every publish notifies, nobody sleeps through it.
  if (!locks_in_use_) return {};
  for (const std::string& channel : options_.channels) {
    SLUICE_CHECK(notify(channel));
  }
  return {};
}

void PostgresListener::attend(bool busy) {
  if (busy_.exchange(busy) != busy && locks_in_use_) signal();
}

void PostgresListener::interrupt() {
  interrupted_ = true;
  signal();
}

void PostgresListener::signal() {
  const std::uint64_t one = 1;
  // A counter that is full wakes the poll as well.
  static_cast<void>(::write(signal_descriptor_, &one, sizeof one) == sizeof one);
}

Result<std::unique_ptr<ListenerConnection>> PostgresStore::listen(const std::vector<std::string>& channels) {
  for (const std::string& channel : channels) {
    SLUICE_CHECK(check_channel(channel));
  }
  return PostgresListener::open({{options_.dsn, options_.connect_timeout, options_.application_name + " listener"},
                                 channels,
                                 fresh_probe_channel(),
                                 options_.at_doorbell_step},
                                pool_);
}

Result<DoorbellMode> PostgresStore::doorbell() {
  SLUICE_TRY(const pq::Rows mode, run(reading(pg_sql::doorbell_mode)));
  return mode.text(0, 0) == name(DoorbellMode::when_idle) ? DoorbellMode::when_idle : DoorbellMode::always;
}

Result<void> PostgresStore::set_doorbell(DoorbellMode mode, const Actor& actor) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  const auto undo = [&](Error error) {
    static_cast<void>(lease->script("rollback").has_value());
    return error;
  };
  const pg_sql::Query& change = mode == DoorbellMode::always ? pg_sql::doorbell_always : pg_sql::doorbell_when_idle;
  if (Result<void> changed = lease->script(change.text); !changed) return undo(changed.error());
  pq::Params params;
  const Result<pq::Rows> audited =
      lease->run_unprepared(writing(pg_sql::doorbell_audit), add(params, actor).text(name(mode)));
  if (!audited) return undo(audited.error());
  return lease->commit();
}

}  // namespace sluice::store
