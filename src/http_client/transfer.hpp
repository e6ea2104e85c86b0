// Requests under way in libcurl: the slot of each, and the sockets of all.
#pragma once

#include <curl/curl.h>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http_client/http_client.hpp"

namespace sluice::http_client {

// Waits for the sockets of a libcurl multi handle and lets it act on those that are ready.
//
// With curl_multi_poll and curl_multi_perform every transfer under way costs a system call in every round, whether
// something came for it or not; here only those pay that are ready.

class SocketWatch {
 public:
  /// Must not outlive `multi`, and no transfer may be in it when the watch ends.
  explicit SocketWatch(CURLM* multi);
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  /// Waits, at most so long, for a socket, a timer of libcurl or a wake, and lets libcurl act.
  void step(std::chrono::milliseconds longest);
  /// Ends the step under way, or the next one. Any thread.
  void wake() const;

 private:
  using Clock = std::chrono::steady_clock;

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  [[nodiscard]] int timeout(std::chrono::milliseconds longest) const;
  void act(curl_socket_t socket, int events);

  CURLM* multi_;
  int epoll_;
  int wake_;
  std::optional<Clock::time_point> due_;  // libcurl's timer
};

// One slot of an HTTP client: a libcurl handle that is set up once and used for one request after another.

/// A list of header lines that libcurl reads and nobody copies.
class HeaderChain {
 public:
  /// `lines` must outlive the chain; `rest` goes behind them.
  void assign(const std::vector<std::string>& lines, curl_slist* rest);
  [[nodiscard]] curl_slist* head() { return nodes_.empty() ? rest_ : nodes_.data(); }

 private:
  std::vector<curl_slist> nodes_;
  curl_slist* rest_ = nullptr;
};

struct Batch;  // of exchanges that somebody waits for

class Transfer {
 public:
  /// `options` and `fixed` must outlive it.
  Transfer(const HttpClientOptions& options, curl_slist* fixed);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  [[nodiscard]] CURL* handle() const { return easy_; }
  void begin(Exchange& exchange, Batch& batch);
  /// Writes down how it ended.
  void end(CURLcode code);
  void abandon();
  void clear() { exchange_ = nullptr; }

  [[nodiscard]] bool active() const { return exchange_ != nullptr; }
  [[nodiscard]] Exchange& exchange() const { return *exchange_; }
  [[nodiscard]] Batch& batch() const { return *batch_; }

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  void read_header(std::string_view line);
  void keep_header(std::string_view name, std::string_view value);
  [[nodiscard]] NoAnswer reason_of(CURLcode code) const;

  const HttpClientOptions& options_;
  curl_slist* fixed_;
  CURL* easy_;
  HeaderChain headers_;
  Exchange* exchange_ = nullptr;
  Batch* batch_ = nullptr;
  std::chrono::steady_clock::time_point began_{};
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool head_complete_ = false;
  std::string refused_;  // why the address guard did not let it go
  std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace sluice::http_client
