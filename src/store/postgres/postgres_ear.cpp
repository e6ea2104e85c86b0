#include "store/postgres/postgres_ear.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "store/postgres/postgres_statement.hpp"

namespace sluice::store {

Result<std::unique_ptr<Ear>> PostgresEar::open(EarOptions options, pq::Pool& notes) {
  Result<pq::Connection> connection = pq::Connection::open(options.connection);
  if (!connection) return std::move(connection).error();
  std::unique_ptr<PostgresEar> ear{new PostgresEar{std::move(options), notes, *std::move(connection)}};
  if (Result<void> started = ear->start(); !started) return std::move(started).error();
  return std::unique_ptr<Ear>{std::move(ear)};
}

PostgresEar::PostgresEar(EarOptions options, pq::Pool& notes, pq::Connection connection)
    : options_(std::move(options)),
      notes_(notes),
      connection_(std::move(connection)),
      signal_descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

PostgresEar::~PostgresEar() {
  if (signal_descriptor_ >= 0) ::close(signal_descriptor_);
}

Result<void> PostgresEar::start() {
  if (signal_descriptor_ < 0) return Error{ErrorCode::exhausted, Retry::safe, "no descriptor is left", {}, {}};
  std::string listen;
  std::vector<std::string> channels = options_.channels;
  channels.push_back(options_.probe_channel);
  // One statement each: within one implicit transaction LISTEN takes effect at its end, which is the same.
  for (const std::string& channel : channels) listen += "listen " + connection_.quote_identifier(channel) + ";";
  if (Result<void> listening = connection_.script(listen, pq::Effect::read); !listening) return listening;
  const Result<pq::Rows> pid = connection_.run(reading(pg_sql::backend_pid));
  if (!pid) return pid.error();
  if (pid->int4(0, 0) != connection_.backend_pid()) obstacle_ = "a connection pooler stands between";
  return follow_mode();
}

Result<void> PostgresEar::follow_mode() {
  Result<pq::Pool::Lease> lease = notes_.lease();
  if (!lease) return std::move(lease).error();
  const Result<pq::Rows> mode = (*lease)->run(reading(pg_sql::doorbell_mode));
  if (!mode) return mode.error();
  const bool when_idle = !mode->empty() && mode->text(0, 0) == name(DoorbellMode::when_idle);
  if (when_idle != batons_.empty()) return {};
  batons_.clear();
  batons_in_use_ = when_idle;
  if (!when_idle) return {};
  for (const std::string& channel : options_.channels) {
    Result<Baton> baton = Baton::take(options_.connection, channel, options_.observer);
    if (!baton) return std::move(baton).error();
    batons_.push_back(*std::move(baton));
  }
  return {};
}

Result<Heard> PostgresEar::wait(Duration at_most) {
  const auto deadline = Baton::Clock::now() + at_most;
  if (Result<void> woken = finish_waking(); !woken) return woken.error();
  while (true) {
    Result<Heard> heard = read_notes();
    if (!heard) return heard;
    // The workers are told first; the locks are given back when they are under way.
    waking_ = *heard == Heard::ring;
    if (*heard != Heard::nothing) return heard;
    const Result<bool> look = step_batons();
    if (!look) return look.error();
    if (*look) return Heard::ring;
    if (interrupted_.exchange(false) || Baton::Clock::now() >= deadline) return Heard::nothing;
    if (Result<void> polled = poll_until(deadline); !polled) return polled.error();
  }
}

Result<void> PostgresEar::finish_waking() {
  if (!std::exchange(waking_, false)) return {};
  for (Baton& baton : batons_) {
    if (Result<void> woken = baton.wake(); !woken) return woken;
  }
  return {};
}

// All that has been read counts as one: a ring says "look", not "how much".
Result<Heard> PostgresEar::read_notes() {
  if (Result<void> read = connection_.consume(); !read) return read.error();
  Heard heard = Heard::nothing;
  events_.clear();
  bool all_named = true;
  while (const auto note = connection_.notification()) {
    if (note->channel != options_.probe_channel) {
      heard = Heard::ring;
      // A publish names its event; what else makes events claimable need not.
      if (const auto event = Uuid::parse(note->payload)) {
        events_.push_back(*event);
      } else {
        all_named = false;
      }
    } else if (heard == Heard::nothing) {
      heard = Heard::echo;
    }
  }
  if (!all_named) events_.clear();
  return heard;
}

Result<bool> PostgresEar::step_batons() {
  bool look = false;
  for (Baton& baton : batons_) {
    Result<bool> stepped = baton.step(busy_);
    if (!stepped) return stepped;
    look = look || *stepped;
  }
  return look;
}

Result<void> PostgresEar::poll_until(Baton::Clock::time_point deadline) {
  std::vector<pollfd> descriptors{{connection_.socket(), POLLIN, 0}, {signal_descriptor_, POLLIN, 0}};
  for (const Baton& baton : batons_) {
    descriptors.push_back({baton.socket(), POLLIN, 0});
    if (baton.next_step()) deadline = std::min(deadline, *baton.next_step());
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Baton::Clock::now()).count();
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
  std::uint64_t count = 0;
  while (::read(signal_descriptor_, &count, sizeof count) > 0) {
  }
  return {};
}

Result<void> PostgresEar::notify(const std::string& channel) {
  Result<pq::Pool::Lease> lease = notes_.lease();
  if (!lease) return std::move(lease).error();
  const Result<pq::Rows> sent =
      (*lease)->run(reading(pg_sql::notify), pq::Params{}.text(std::string_view{channel}).text(std::string_view{}));
  if (!sent) return sent.error();
  return {};
}

Result<void> PostgresEar::probe() {
  if (Result<void> followed = follow_mode(); !followed) return followed;
  return notify(options_.probe_channel);
}

Result<void> PostgresEar::wake_others() {
  // Where every publish rings, nobody sleeps through it.
  if (!batons_in_use_) return {};
  for (const std::string& channel : options_.channels) {
    if (Result<void> sent = notify(channel); !sent) return sent;
  }
  return {};
}

void PostgresEar::attend(bool busy) {
  if (busy_.exchange(busy) != busy && batons_in_use_) signal();
}

void PostgresEar::interrupt() {
  interrupted_ = true;
  signal();
}

void PostgresEar::signal() {
  const std::uint64_t one = 1;
  // A counter that is full wakes the poll as well.
  static_cast<void>(::write(signal_descriptor_, &one, sizeof one) == sizeof one);
}

}  // namespace sluice::store
