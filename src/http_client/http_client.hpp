// The one HTTP client: carries POSTs to one receiver, many at a time, over connections that stay open. A thread of its
// own drives all of them. This folder is the only place that sees libcurl.
//
// Every receiver has a client, and no client uses a connection of another: an address that one sink may connect to is
// not thereby open to the next. Redirects are not followed, and of an answer no more than 64 KiB is read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include "core/ip_address.hpp"

namespace sluice::http_client {

// How an HTTP exchange ended. Pure.

/// Why no answer came.
enum class NoAnswer {
  timeout,
  connection_refused,
  unreachable,  ///< no connection for another reason
  name,         ///< the host's name is not known
  tls,
  connection_lost,  ///< it broke before the answer was complete
  ssrf_refused,     ///< the address guard did not let it go
  too_large,        ///< the head of the answer was
  stopped,          ///< given up from this side
};
/// The error class that the dead-letter queue groups by.
std::string_view name(NoAnswer reason);

struct Answer {
  int status = 0;                                           ///< 0: none came, see `reason`
  std::map<std::string, std::string, std::less<>> headers;  ///< of those that were asked for; names in lower case
  std::string body;                                         ///< the beginning of it
  NoAnswer reason = NoAnswer::connection_lost;
  std::string detail;  ///< of no answer: what the client says

  [[nodiscard]] std::optional<std::string_view> header(std::string_view lower_name) const;
};

/// Whole seconds, at most a day.
std::optional<Duration> parse_delay_seconds(std::string_view text);
/// The value of Retry-After: `120` or `Wed, 21 Oct 2026 07:28:00 GMT`; at most a day.
std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now);

/// Which addresses a request may connect to: hosts on the Internet, and what an operator has allowed. Checked for each
/// connection, with the address that it is about to go to, so that no name can change its mind in between.
///
/// Thread-safety: immutable.
class AddressGuard {
 public:
  AddressGuard() = default;
  explicit AddressGuard(std::vector<Network> allowed) : allowed_(std::move(allowed)) {}

  /// None: it may. Else why not, and how to allow it.
  [[nodiscard]] std::optional<std::string> refusal(const IpAddress& address) const;

 private:
  std::vector<Network> allowed_;
};

struct HttpClientOptions {
  std::string url;
  std::vector<std::string> headers;  ///< complete lines that go with every request
  Duration connect_timeout{};
  Duration timeout{};   ///< for everything
  int concurrency = 1;  ///< requests at the same time
  /// With a guard no proxy is used: it would connect in our stead, to whatever it likes. None: every address is right,
  /// and the proxy of the environment applies, as for every other program on the machine.
  std::optional<AddressGuard> guard;
  std::vector<std::string> kept_headers{"retry-after"};  ///< of the answer; names in lower case
};

/// One request on its way, and what came of it. The functions are called on the client's thread.
class Exchange {
 public:
  Exchange() = default;
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Right before it is sent. False: pass this one over.
  virtual bool may_begin() { return true; }
  /// Complete lines, `name: value`: those of this request alone.
  [[nodiscard]] virtual const std::vector<std::string>& headers() const = 0;
  [[nodiscard]] virtual std::string_view body() const = 0;
  virtual void ended() {}

  // Once it is over:
  bool begun = false;  ///< false: nothing was sent
  Answer answer;
  Duration took{};
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options);
  /// Nobody may be inside run().
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Returns when all of them are over. A stop ends those under way and lets the others not begin. Any number of
  /// threads may be in here; they share the concurrency, first come, first served.
  void run(std::span<Exchange* const> exchanges, const std::stop_token& stop);

  /// One request with this body.
  Answer post(std::string_view body, const std::stop_token& stop);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sluice::http_client
