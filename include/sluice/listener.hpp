// EventListener: claims events and hands them to handlers, in threads of its own.
//
//   auto listener = sluice::EventListener::open({.store = "postgres://worker@db/app"});
//   listener->listen({.handler_name = "worlds.scan_indexer", .events = {"scan.*"}}, index_scan);
//   listener->start();
//   …
//   listener->stop();
//
// Every listener of a generation registers what it subscribes to, so that an event is delivered only
// when each subscribed handler, in whichever process, has handled it.
//
// Thread-safety: listen() and start() from one thread; the rest from any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/handler.hpp>
#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include <sluice/time.hpp>
#include <sluice/tracer.hpp>

namespace sluice {

struct HandlerOptions {
  /// `scope.name`, unique among all handlers: the key of dedup. The scope is the receiving context.
  std::string handler_name{};
  std::vector<std::string> events{"*"};  ///< types, prefixes followed by `*`, or `*`
  /// Events for this target besides broadcasts; default: the scope of handler_name. "*": for any target.
  std::string context{};
  std::string processing_class{};  ///< only channel `outbox_gen_<N>_<class>`; empty: every channel of the generation
  RetryPolicy retry{};
  /// After this long the handler is asked to stop and its failure counts as TimeoutError; if it never
  /// returns, its claim expires. Zero: no limit.
  Duration timeout{};
  int concurrency = 0;  ///< runs at once in this process; zero: as many as there are threads
  /// The handler is idempotent by itself: no dedup row is written or read where one event has one
  /// handler, which costs less. An event may then run again after a crash.
  bool idempotent = false;
};

/// Where deliveries come from while `sluice ladder relay` has turned the relay on. The same in every process.
struct BrokerAddress {
  std::vector<std::string> urls{};  ///< `nats://…`, `tls://…` or one `redis://…`; empty: no broker
  std::string user{};
  std::string password{};
  std::string token{};             ///< NATS
  std::string credentials_file{};  ///< NATS: a user's JWT and seed, made by `nsc`
  std::string tls_ca{};            ///< NATS: files, read anew for each connection
  std::string tls_cert{};
  std::string tls_key{};
  std::string tls_server_name{};                 ///< that the server's certificate must have; default: that of the URL
  std::string stream = "sluice";                 ///< prefix of subjects or keys
  int shards = 16;                               ///< of events with an ordering key
  Duration ack_wait = std::chrono::seconds{60};  ///< a message not settled or renewed for so long comes again
};

struct ListenerOptions {
  std::string store{};                                ///< `postgres://…`, `sqlite:PATH` or a path
  std::optional<std::int64_t> generation{};           ///< default: the newest live one, else 1
  int threads = 2;                                    ///< that claim and run handlers
  int batch = 100;                                    ///< the most events claimed at once
  Duration claim_ttl = std::chrono::seconds{300};     ///< renewed at a third of it while handlers run
  Duration poll = std::chrono::seconds{5};            ///< how often to look while nothing can be heard
  Duration safety_poll = std::chrono::seconds{10};    ///< how often to look although all seems well
  Duration drain_timeout = std::chrono::seconds{30};  ///< by then stop() gives back what is not done
  bool reaper = true;                                 ///< also takes back the claims of workers that died; many may
  bool retention = false;  ///< also removes what is older than 45 + 7 days; one per database is enough
  /// Also heals events that no claim would find. One process at a time does, whichever is there.
  bool patrol = true;
  Duration patrol_interval = std::chrono::minutes{3};          ///< between two rounds of the patrol
  Duration patrol_overlooked_after = std::chrono::minutes{1};  ///< due for this long, and nobody has looked for it
  Duration patrol_settled_again = std::chrono::hours{24};  ///< what it has seen settled is read again after this long
  BrokerAddress broker{};                                  ///< consumed from besides the store
  std::string service = "sluice";                          ///< names this program in logs
  std::string environment{};
  /// One JSON log line each; from any thread. Default: none are written.
  std::function<void(std::string_view line)> log{};
  std::shared_ptr<Tracer> tracer{};  ///< default: nothing is traced

  /// Store and generation from SLUICE_STORE or DATABASE_URL, and SLUICE_GENERATION or SPECTRAL_GENERATION; the broker's
  /// addresses, between commas, from SLUICE_BROKER, and the rest of it from the variables that the daemon reads:
  /// SLUICE_BROKER_USER, _PASSWORD, _TOKEN, _CREDENTIALS, _TLS_CA, _TLS_CERT, _TLS_KEY, _TLS_SERVER_NAME, _STREAM,
  /// _SHARDS, _ACK_WAIT.
  static Result<ListenerOptions> from_environment();
};

struct ListenerStatus {
  std::string state;   ///< listening, reconnecting, polling, deaf; or stopped
  std::string worker;  ///< under which this process claims
  std::int64_t claimed = 0;
  std::int64_t delivered = 0;
  std::int64_t retried = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t fenced = 0;  ///< settled too late: the claim had been lost
  std::int64_t deduplicated = 0;
};

class EventListener {
 public:
  /// Opens the store; nothing is claimed before start().
  static Result<EventListener> open(ListenerOptions options);
  EventListener(EventListener&&) noexcept;
  EventListener& operator=(EventListener&&) noexcept;
  ~EventListener();  ///< stops

  /// Registers a handler; before start(). The error names the option.
  Result<void> listen(HandlerOptions options, EventHandler handler);

  /// Registers the subscriptions and starts the threads. After an error it may be called again.
  Result<void> start();

  /// Claims nothing more, finishes what is in flight, gives back what has not begun within the drain
  /// timeout, and returns when the last handler has returned.
  void stop();

  [[nodiscard]] ListenerStatus status() const;

 private:
  class Impl;
  explicit EventListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
