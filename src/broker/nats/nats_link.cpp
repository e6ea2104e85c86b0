#include "broker/nats/nats.hpp"

#include <vector>

#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

using NatsOptions = std::unique_ptr<natsOptions, Destroy<natsOptions, natsOptions_Destroy>>;

constexpr std::int64_t kPingMs = 10'000;
constexpr int kPingsOut = 2;
// A server that is away is asked this often, however many callers there are.
constexpr milliseconds kConnectPause{250};
constexpr std::int64_t kRequestMs = 5'000;

// libnats' own handler writes to standard error.
void ignore_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

Result<void> set_all(natsOptions* to, const BrokerOptions& from) {
  std::vector<const char*> urls;
  urls.reserve(from.urls.size());
  for (const std::string& url : from.urls) urls.push_back(url.c_str());
  natsStatus status = natsOptions_SetServers(to, urls.data(), static_cast<int>(urls.size()));
  if (status == NATS_OK) status = natsOptions_SetTimeout(to, duration_cast<milliseconds>(from.connect_timeout).count());
  // A connection that broke is closed, and the next caller makes another. libnats 3.4's own reconnecting was seen to
  // block for good: its reader waited for a lock of a subscription, its reconnect thread for the reader, and a stop for
  // both.
  if (status == NATS_OK) status = natsOptions_SetAllowReconnect(to, false);
  if (status == NATS_OK) status = natsOptions_SetPingInterval(to, kPingMs);
  if (status == NATS_OK) status = natsOptions_SetMaxPingsOut(to, kPingsOut);
  if (status == NATS_OK) status = natsOptions_SetFailRequestsOnDisconnect(to, true);
  if (status == NATS_OK) status = natsOptions_SetErrorHandler(to, ignore_error, nullptr);
  SLUICE_CHECK(settled_option(status));
  return set_login(to, from);
}

ErrorCode code_of(natsStatus status) {
  switch (status) {
    case NATS_TIMEOUT:
      return ErrorCode::timeout;
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
      return ErrorCode::forbidden;
    case NATS_MAX_PAYLOAD:
    case NATS_INVALID_SUBJECT:
    case NATS_INVALID_ARG:
    case NATS_ADDRESS_MISSING:
      return ErrorCode::invalid;
    case NATS_NOT_FOUND:
    case NATS_NO_RESPONDERS:
      return ErrorCode::not_found;
    case NATS_NO_MEMORY:
      return ErrorCode::exhausted;
    default:
      return ErrorCode::unavailable;
  }
}

}  // namespace

Error error_of(natsStatus status, std::string_view doing, Retry retry) {
  const ErrorCode code = code_of(status);
  Error error{code, code == ErrorCode::invalid ? Retry::never : retry, {}, {}, {}};
  error.message = "cannot " + std::string{doing} + ": NATS says " + lower_case(natsStatus_GetText(status));
  return error;
}

Error error_of(natsStatus status, jsErrCode code, std::string_view doing) {
  if (code == 0) return error_of(status, doing, status == NATS_TIMEOUT ? Retry::in_doubt : Retry::safe);
  const char* detail = nats_GetLastError(nullptr);
  Error error{ErrorCode::unavailable, Retry::safe, {}, {}, {}};
  error.message =
      "cannot " + std::string{doing} + ": JetStream says " + printable(detail == nullptr ? "nothing" : detail);
  if (code == JSStreamNotFoundErr || code == JSConsumerNotFoundErr) error.code = ErrorCode::not_found;
  if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr) {
    error.hint = "start nats-server with -js, or turn JetStream on for this account";
  }
  return error;
}

Result<NatsConnection> NatsLink::connect() const {
  natsOptions* raw = nullptr;
  SLUICE_CHECK(settled_option(natsOptions_Create(&raw)));
  const NatsOptions options{raw};
  SLUICE_CHECK(set_all(raw, options_));
  natsConnection* connection = nullptr;
  const natsStatus status = natsConnection_Connect(&connection, raw);
  if (status == NATS_OK) return NatsConnection{connection, natsConnection_Destroy};
  return refused_connection(status, options_);
}

// One caller connects, without the lock: what a server that is away costs, the others need not wait for. Only as long
// as nothing is known of it do they wait for the outcome together.
Result<NatsConnection> NatsLink::connected() {
  std::unique_lock lock{mutex_};
  if (connection_ && is_up(connection_)) return connection_;
  const auto is_recent = [this] { return std::chrono::steady_clock::now() - failed_at_ < kConnectPause; };
  if (last_error_ && (connecting_ || is_recent())) return *last_error_;
  if (connecting_) {
    connected_or_not_.wait(lock, [this] { return !connecting_; });
    if (connection_) return connection_;
    return *last_error_;
  }
  connecting_ = true;
  const NatsConnection broken = std::move(connection_);
  connection_.reset();
  lock.unlock();
  auto made = connect();
  lock.lock();
  connecting_ = false;
  failed_at_ = std::chrono::steady_clock::now();
  last_error_.reset();
  if (made) {
    connection_ = *made;
  } else {
    last_error_ = made.error();
  }
  connected_or_not_.notify_all();
  return made;
}

Result<NatsContext> NatsLink::jetstream(const NatsConnection& connection) const {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = kRequestMs;
  jsCtx* raw = nullptr;
  if (const natsStatus status = natsConnection_JetStream(&raw, connection.get(), &options); status != NATS_OK) {
    return error_of(status, "talk to JetStream", Retry::safe);
  }
  return NatsContext{raw};
}

bool is_up(const NatsConnection& connection) {
  return natsConnection_Status(connection.get()) == NATS_CONN_STATUS_CONNECTED;
}

bool is_status(natsMsg* message) {
  const char* text = nullptr;
  return natsMsg_GetDataLength(message) == 0 && natsMsgHeader_Get(message, "Status", &text) == NATS_OK;
}

}  // namespace sluice::broker
