// chaos_worker store=… record=FILE handlers=NAME:KIND:PATTERN+PATTERN,… [threads= batch= ttl= attempts= seed=
// trap=PLACE:N transient= ends=1 register=1]: a worker of the campaign. It writes a line for each start of a handler
// before the handler does anything. Prints "ready"; ends in order when its standard input ends.
//
//   S TIME HANDLER NUMBER     a handler starts with an event
//   E TIME HANDLER NUMBER     the same run has ended, well or not; only with ends=1
//
// Kinds: effect and effects write a row to chaos_effects in the handler's transaction, one by one or as a batch; plain
// writes nothing; idempotent is plain without dedup. What the last word of an event's type asks for:
//
//   throw  a terminal error            never  an error that is worth a retry, each time
//   flaky  a terminal error, or not    crash  the process dies, three times; then a terminal error
//   slow   longer than a claim lasts   other  an error now and then
//
// Slow is shorter in a transaction: the server ends one that is idle for as long as a claim lasts.
#include <csignal>
#include <cstdio>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include "host/identity.hpp"
#include "runtime/supervisor.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/chaos/clock.hpp"
#include "tests/chaos/record.hpp"

namespace {

using namespace sluice;
using namespace std::chrono_literals;
using chaos::Record;
using chaos::Settings;

constexpr int kCrashes = 3;

std::unique_ptr<store::Store> open_store(const std::string& address, int threads) {
  auto opened = [&]() -> Result<std::unique_ptr<store::Store>> {
    if (address.starts_with("postgres://")) {
      store::PostgresOptions options;
      options.dsn = address;
      options.max_connections = 4 + 2 * threads;
      return store::open_postgres(options);
    }
    store::SqliteOptions options;
    options.path = address.substr(address.find(':') + 1);
    return store::open_sqlite(options);
  }();
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

// Dies, or stops, when it comes to a place for the n-th time.
class Trap {
 public:
  explicit Trap(const std::string& text)
      : place_(text.substr(0, text.find(':'))), left_(text.empty() ? 0 : std::stoi(text.substr(text.find(':') + 1))) {}
  void at(std::string_view place) {
    if (place == place_ && --left_ == 0) std::raise(SIGKILL);
  }

 private:
  std::string place_;
  std::atomic<int> left_;
};

struct Surroundings {
  const Record& record;
  Trap& trap;
  Duration ttl;
  int transient_per_mille;
  bool ends;

  // Each thread draws from its own numbers: which events fail is not part of what the seed repeats.
  static std::uint32_t random() {
    static thread_local std::mt19937 source{std::random_device{}()};
    return static_cast<std::uint32_t>(source());
  }
};

class Meeting {
 public:
  Meeting(const Surroundings& around, const std::string& handler, const EventEnvelope& event)
      : record_(around.record),
        ends_(around.ends),
        tail_(" " + handler + " " + std::to_string(chaos::number_of(event.event_id())) + "\n") {
    record_.append("S " + chaos::now() + tail_);
  }
  ~Meeting() {
    if (ends_) record_.append("E " + chaos::now() + tail_);
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

 private:
  const Record& record_;
  bool ends_;
  std::string tail_;
};

void suffer(const Surroundings& around, const EventEnvelope& event, int attempts, bool in_transaction) {
  around.trap.at("in_handler");
  const std::string_view type = event.event_type();
  const std::string_view asked = type.substr(type.rfind('.') + 1);
  if (asked == "crash" && attempts < kCrashes) std::raise(SIGKILL);
  if (asked == "throw" || asked == "crash") throw TerminalError{"the event is poisoned"};
  if (asked == "flaky" && Surroundings::random() % 2 == 0) throw TerminalError{"the event is refused this time"};
  if (asked == "never") throw HandlerError{"NeverError", "it never works"};
  if (asked == "slow") std::this_thread::sleep_for(in_transaction ? around.ttl / 2 : around.ttl * 3 / 2);
  if (Surroundings::random() % 1000 < static_cast<std::uint32_t>(around.transient_per_mille)) {
    throw HandlerError{"NowAndThenError", "not this time"};
  }
}

void write_effect(Transaction& transaction, const EventEnvelope& event, const std::string& handler) {
  transaction.execute("insert into chaos_effects (number, handler) values (cast($1 as bigint), $2)",
                      {std::to_string(chaos::number_of(event.event_id())), handler});
}

EventHandler handler_of(const std::string& kind, const std::string& name, const Surroundings& around) {
  if (kind == "effect") {
    return [&around, name](const EventEnvelope& event, Transaction& transaction, const Delivery& delivery) {
      const Meeting meeting{around, name, event};
      suffer(around, event, delivery.attempts.front(), true);
      write_effect(transaction, event, name);
      around.trap.at("after_effect");
    };
  }
  if (kind == "effects") {
    return [&around, name](std::span<const EventEnvelope> events, Transaction& transaction, const Delivery& delivery) {
      for (std::size_t i = 0; i < events.size(); ++i) {
        const Meeting meeting{around, name, events[i]};
        suffer(around, events[i], delivery.attempts[i], true);
        write_effect(transaction, events[i], name);
      }
      around.trap.at("after_effect");
    };
  }
  return [&around, name](const EventEnvelope& event, const Delivery& delivery) {
    const Meeting meeting{around, name, event};
    suffer(around, event, delivery.attempts.front(), false);
    around.trap.at("after_effect");
  };
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest{text};
  for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
  return parts;
}

runtime::HandlerSet handlers_of(const Settings& settings, const Surroundings& around) {
  RetryPolicy retry;
  retry.max_attempts = settings.number("attempts", 40);
  retry.base = 2ms;
  retry.cap = 50ms;
  runtime::HandlerSet handlers;
  for (const std::string& each : split(settings.text("handlers"), ',')) {
    const auto parts = split(each, ':');
    runtime::RegisteredHandler made{{.handler_name = parts.at(0), .event_types = split(parts.at(2), '+')},
                                    handler_of(parts.at(1), parts.at(0), around),
                                    retry,
                                    {},
                                    0,
                                    parts.at(1) == "idempotent"};
    if (auto added = handlers.add(std::move(made)); !added) throw std::runtime_error(added.error().message);
  }
  return handlers;
}

// What heals in the background is switched off where this build has it: the campaign shows what is stranded.
template <class Options>
void without_patrol(Options& options) {
  if constexpr (requires { options.patrol.enabled; }) {
    options.patrol.enabled = false;
  } else if constexpr (requires { options.patrol = false; }) {
    options.patrol = false;
  }
}

runtime::SupervisorOptions options_of(const Settings& settings, Trap& trap) {
  runtime::SupervisorOptions options;
  options.worker.identity = host::worker_identity(
      {"chaos", ::getpid(), std::chrono::floor<Duration>(std::chrono::system_clock::now()), Surroundings::random()});
  options.worker.uniform01 = [] { return Surroundings::random() / 4294967296.0; };
  options.worker.batch_max = settings.number("batch", 100);
  options.worker.batch_min = std::min(10, options.worker.batch_max);
  options.worker.ttl = std::chrono::milliseconds{settings.number("ttl", 1000)};
  options.worker.at = [&trap](std::string_view place) { trap.at(place); };
  options.workers = settings.number("threads", 2);
  options.listener.safety_poll = 1s;
  options.listener.poll = 200ms;
  options.reap_interval = 250ms;
  options.backoff = {20ms, 500ms};
  options.sweep = false;
  if (settings.number("patrol") == 0) without_patrol(options);
  return options;
}

int work(const Settings& settings) {
  const Record record{settings.text("record")};
  if (const auto clock = settings.text("clock"); !clock.empty()) chaos::take_clock_from(clock);
  Trap trap{settings.text("trap")};
  const Surroundings around{record, trap, std::chrono::milliseconds{settings.number("ttl", 1000)},
                            settings.number("transient", 5), settings.number("ends") != 0};
  const int threads = settings.number("threads", 2);
  const auto store = open_store(settings.text("store"), threads);
  auto handlers = handlers_of(settings, around);
  if (settings.number("register") != 0) {
    auto done = store->subscribe(kFirstGeneration, handlers.subscriptions());
    if (!done) throw std::runtime_error(done.error().message);
    return 0;
  }
  auto started = runtime::Supervisor::start(*store, std::move(handlers), {}, options_of(settings, trap));
  if (!started) throw std::runtime_error(started.error().message);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  (*started)->request_stop();
  (*started)->join();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return work(Settings{count, words});
  } catch (const std::exception& error) {
    std::cerr << "chaos_worker: " << error.what() << '\n';
    return 1;
  }
}
