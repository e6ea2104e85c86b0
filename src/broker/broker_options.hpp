// Which broker, and how to reach it: what a configuration says, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sluice/time.hpp>

namespace sluice::broker {

/// How to reach a broker. The kind follows from the scheme: `nats://`, `tls://`; `redis://`.
struct BrokerOptions {
  std::vector<std::string> urls;  ///< several servers of one NATS cluster; Redis takes one
  std::string user;
  std::string password;
  std::string token;             ///< NATS
  std::string credentials_file;  ///< NATS: made by `nsc`
  std::string tls_ca;            ///< files; with `tls://`
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  Duration connect_timeout = std::chrono::seconds{5};
  std::string client_name = "sluice";
  std::string prefix = "sluice";  ///< of subjects or keys of the relay; the stream of NATS has this name in capitals
  /// Redis: how long the id of a published message is remembered. NATS: a property of the stream.
  Duration duplicate_window = std::chrono::hours{2};
  std::int64_t max_messages = 0;  ///< Redis: as StreamSpec::max_messages, for every stream that is published to
};

}  // namespace sluice::broker
