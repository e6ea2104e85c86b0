#include "runtime/listener.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/service.hpp"

namespace sluice::runtime {

namespace {

void add(telemetry::Family<telemetry::Counter>& counter, std::int64_t before, std::int64_t now) {
  if (now > before) counter->add(static_cast<std::uint64_t>(now - before));
}

// The first connection is no reconnect.
std::int64_t reconnects(const ListenerCounts& counts) { return std::max<std::int64_t>(counts.connects - 1, 0); }

}  // namespace

void ListenerObserver::saw(ListenerState state, const ListenerCounts& counts) {
  if (metrics_ == nullptr) return;
  telemetry::ListenerMetrics& listener = metrics_->listener;
  add(listener.notifications, counts_.notifications, counts.notifications);
  add(listener.reconnects, reconnects(counts_), reconnects(counts));
  add(listener.losses, counts_.losses, counts.losses);
  add(listener.deaf, counts_.deaf, counts.deaf);
  counts_ = counts;
  if (state_ == state) return;
  state_ = state;
  using enum ListenerState;
  for (const ListenerState each : {listening, reconnecting, polling, deaf}) {
    listener.state.with({std::string{name(each)}}).set(each == state ? 1 : 0);
  }
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenWakes = std::chrono::milliseconds{100};

}  // namespace

Listener::Listener(store::Observing& store, Notifier& notifier, telemetry::Logger logger, ListenerOptions options)
    : store_(store),
      notifier_(notifier),
      logger_(std::move(logger)),
      options_(std::move(options)),
      observer_(options_.metrics),
      poll_interval_(options_.times.poll.count()) {}

void Listener::run(const std::stop_token& stop) {
  ListenerHealth health{options_.times, Clock::now()};
  const std::stop_callback interrupt{stop, [this] {
                                       if (const auto connection = this->connection()) connection->interrupt();
                                     }};
  while (!stop.stop_requested()) {
    obey(health.next(Clock::now()), health, stop);
    health.tick(Clock::now());
    publish(health);
  }
  set_connection(nullptr);
}

void Listener::obey(const ListenerHealth::Step& step, ListenerHealth& health, const std::stop_token& stop) {
  const auto left = std::chrono::duration_cast<Duration>(step.until - Clock::now());
  switch (step.action) {
    case ListenerHealth::Action::connect:
      return connect(health);
    case ListenerHealth::Action::probe:
      return probe(health);
    case ListenerHealth::Action::drop:
      return drop(health, true);
    case ListenerHealth::Action::wait:
      if (connection()) return hear(health, std::max(left, Duration::zero()));
      return rest_.sleep(stop, std::max(left, Duration::zero()));
  }
}

void Listener::connect(ListenerHealth& health) {
  auto opened = store_.listen(options_.channels);
  if (!opened) {
    ++losses_;
    log_error(logger_, "cannot listen; the workers look by themselves meanwhile", opened.error());
    return health.lost(Clock::now());
  }
  ++connects_;
  set_connection(std::shared_ptr<store::ListenerConnection>{*std::move(opened)});
  health.connected(Clock::now());
  // What came before it was open was told to nobody.
  notifier_.announce();
}

void Listener::probe(ListenerHealth& health) {
  if (auto sent = connection()->probe(); !sent) {
    log_error(logger_, "cannot probe the listener", sent.error());
    return drop(health, false);
  }
  health.probed(Clock::now());
}

void Listener::hear(ListenerHealth& health, Duration at_most) {
  const auto heard = connection()->wait(at_most);
  if (!heard) {
    log_error(logger_, "the listener's connection is lost", heard.error());
    return drop(health, false);
  }
  if (*heard == store::Heard::echo) health.echoed();
  if (*heard != store::Heard::notification) return;
  ++notifications_;
  notifier_.heard(connection()->events());
}

void Listener::drop(ListenerHealth& health, bool deaf) {
  if (deaf) {
    ++deaf_;
    const std::string obstacle = connection()->obstacle();
    logger_.error("the listener is deaf: a probe was not heard",
                  {{"obstacle", obstacle.empty() ? "the network drops what is sent" : obstacle},
                   {"hint", obstacle.empty() ? "check firewalls and idle timeouts between here and the database"
                                             : "LISTEN needs a direct connection or session pooling"}});
  }
  ++losses_;
  set_connection(nullptr);
  health.lost(Clock::now());
  // Whoever relied on being woken claims now, and then by itself.
  publish(health);
  notifier_.announce();
}

void Listener::publish(const ListenerHealth& health) {
  const bool first = starting_.exchange(false);
  const ListenerState before = state_.exchange(health.state());
  poll_interval_ = health.poll_interval().count();
  observer_.saw(health.state(), counts());
  if (before != health.state()) {
    logger_.info("listener state changed",
                 {{"from", first ? "connecting" : name(before)}, {"to", name(health.state())}});
  }
  if (options_.changed && (first || before != health.state())) options_.changed();
}

void Listener::attend(bool busy) {
  const std::lock_guard lock{mutex_};
  busy_ = busy;
  if (connection_) connection_->attend(busy);
}

void Listener::wake_others() {
  const TimePoint now = Clock::now();
  std::shared_ptr<store::ListenerConnection> connection;
  {
    const std::lock_guard lock{mutex_};
    if (now - woke_others_ < kBetweenWakes) return;
    woke_others_ = now;
    connection = connection_;
  }
  if (!connection) return;
  if (auto woken = connection->wake_others(); !woken) log_error(logger_, "cannot wake other workers", woken.error());
}

ListenerCounts Listener::counts() const { return {notifications_, connects_, losses_, deaf_}; }

std::shared_ptr<store::ListenerConnection> Listener::connection() const {
  const std::lock_guard lock{mutex_};
  return connection_;
}

void Listener::set_connection(std::shared_ptr<store::ListenerConnection> connection) {
  const std::lock_guard lock{mutex_};
  connection_ = std::move(connection);
  if (connection_) connection_->attend(busy_);
}

}  // namespace sluice::runtime
