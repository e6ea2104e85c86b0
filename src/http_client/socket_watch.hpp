// Waits for the sockets of a libcurl multi handle and lets it act on those that are ready.
//
// With curl_multi_poll and curl_multi_perform every transfer under way costs a system call in every round, whether
// something came for it or not; here only those pay that are ready.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <optional>

namespace sluice::http_client {

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

}  // namespace sluice::http_client
