// The connection to NATS: made when it is needed, and made anew when it broke. The only header that
// shows libnats' types, and only to this folder.
//
// Thread-safety: any thread.
#pragma once

#include <nats/nats.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>
#include "broker/broker_options.hpp"

namespace sluice::broker {

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* it) const { destroy(it); }
};
using NatsMsg = std::unique_ptr<natsMsg, Destroy<natsMsg, natsMsg_Destroy>>;
using NatsSubscription = std::unique_ptr<natsSubscription, Destroy<natsSubscription, natsSubscription_Destroy>>;
using NatsContext = std::unique_ptr<jsCtx, Destroy<jsCtx, jsCtx_Destroy>>;
using NatsConnection = std::shared_ptr<natsConnection>;

/// How soon somebody who waits notices a stop and a broken connection.
inline constexpr std::chrono::milliseconds kNatsGlance{50};

/// What a status means to a caller; `doing` as in "cannot … (reason)".
Error error_of(natsStatus status, std::string_view doing, Retry retry);
/// The same for an answer of JetStream's own.
Error error_of(natsStatus status, jsErrCode code, std::string_view doing);

class NatsLink {
 public:
  explicit NatsLink(BrokerOptions options) : options_(std::move(options)) {}

  /// A connection that is up; connects when there is none, or when it broke. A server that is away: unavailable.
  Result<NatsConnection> connected();
  /// How long a request to JetStream itself may take.
  Result<NatsContext> jetstream(const NatsConnection& connection) const;
  [[nodiscard]] const BrokerOptions& options() const { return options_; }

 private:
  Result<NatsConnection> connect() const;
  [[nodiscard]] Error refused(natsStatus status) const;

  const BrokerOptions options_;
  std::mutex mutex_;
  NatsConnection connection_;
  std::optional<Error> last_error_;
  std::chrono::steady_clock::time_point failed_at_{};
};

/// False once it broke: answers to what was sent before do not come any more.
bool is_up(const NatsConnection& connection);

/// Whether the server itself has written this message, to say how a request went (`404`, `408`).
bool is_status(natsMsg* message);

}  // namespace sluice::broker
