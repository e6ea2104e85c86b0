#include "http_client/transfer.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/words.hpp"

namespace sluice::http_client {
namespace {

constexpr int kMostEvents = 256;

std::uint32_t wanted(int what) {
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  return events;
}

int seen(std::uint32_t events) {
  int bits = 0;
  if ((events & (EPOLLIN | EPOLLHUP)) != 0) bits |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) bits |= CURL_CSELECT_OUT;
  if ((events & EPOLLERR) != 0) bits |= CURL_CSELECT_ERR;
  return bits;
}

}  // namespace

SocketWatch::SocketWatch(CURLM* multi)
    : multi_(multi), epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  assert(epoll_ >= 0 && wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

SocketWatch::~SocketWatch() {
  // Connections that are kept open are closed with the multi handle, after us.
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, nullptr);
  ::close(wake_);
  ::close(epoll_);
}

void SocketWatch::wake() const { ::eventfd_write(wake_, 1); }

int SocketWatch::timeout(std::chrono::milliseconds longest) const {
  if (!due_) return static_cast<int>(longest.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds::zero(), longest).count());
}

void SocketWatch::step(std::chrono::milliseconds longest) {
  std::array<epoll_event, kMostEvents> events{};
  const int count = ::epoll_wait(epoll_, events.data(), kMostEvents, timeout(longest));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      eventfd_t ignored = 0;
      ::eventfd_read(wake_, &ignored);
    } else {
      act(event.data.fd, seen(event.events));
    }
  }
  if (due_ && *due_ <= Clock::now()) {
    due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  }
}

void SocketWatch::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
}

int SocketWatch::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* known) {
  auto& watch = *static_cast<SocketWatch*>(self);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(watch.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    curl_multi_assign(watch.multi_, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = wanted(what);
  event.data.fd = socket;
  ::epoll_ctl(watch.epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
  curl_multi_assign(watch.multi_, socket, self);
  return 0;
}

int SocketWatch::on_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& watch = *static_cast<SocketWatch*>(self);
  watch.due_.reset();
  if (milliseconds >= 0) watch.due_ = Clock::now() + std::chrono::milliseconds{milliseconds};
  return 0;
}

namespace {

constexpr std::size_t kMostHead = std::size_t{64} * 1024;
constexpr std::size_t kMostBody = std::size_t{64} * 1024;  // read, so that the connection can be used again
constexpr std::size_t kMostKept = 1024;

long milliseconds(Duration duration) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

std::optional<IpAddress> ip_of(const curl_sockaddr& address) {
  if (address.family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.addr, sizeof in);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &in.sin_addr, bytes.size());
    return IpAddress::v4(bytes);
  }
  if (address.family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.addr, sizeof in);
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    return IpAddress::v6(bytes);
  }
  return std::nullopt;
}

bool is_tls(CURLcode code) {
  constexpr std::array kCodes{CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
                              CURLE_SSL_CIPHER,        CURLE_SSL_CACERT_BADFILE,       CURLE_USE_SSL_FAILED,
                              CURLE_SSL_ISSUER_ERROR,  CURLE_SSL_INVALIDCERTSTATUS,    CURLE_SSL_PINNEDPUBKEYNOTMATCH};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

}  // namespace

void HeaderChain::assign(const std::vector<std::string>& lines, curl_slist* rest) {
  rest_ = rest;
  nodes_.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // libcurl only reads them; its type has no const.
    nodes_[i].data = const_cast<char*>(lines[i].c_str());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    nodes_[i].next = i + 1 < lines.size() ? &nodes_[i + 1] : rest;
  }
}

Transfer::Transfer(const HttpClientOptions& options, curl_slist* fixed)
    : options_(options), fixed_(fixed), easy_(curl_easy_init()) {
  assert(easy_ != nullptr);
  curl_easy_setopt(easy_, CURLOPT_URL, options.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  if (options.guard) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
    curl_easy_setopt(easy_, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, this);
  }
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_timeout));
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, milliseconds(options.timeout));
  curl_easy_setopt(easy_, CURLOPT_POST, 1L);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
}

Transfer::~Transfer() { curl_easy_cleanup(easy_); }

void Transfer::begin(Exchange& exchange, Batch& batch) {
  exchange_ = &exchange;
  batch_ = &batch;
  exchange.begun = true;
  header_bytes_ = body_bytes_ = 0;
  head_complete_ = false;
  refused_.clear();
  error_.front() = '\0';
  headers_.assign(exchange.headers(), fixed_);
  const std::string_view body = exchange.body();
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_.head());
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body.data());
  began_ = std::chrono::steady_clock::now();
}

void Transfer::end(CURLcode code) {
  Answer& answer = exchange_->answer;
  exchange_->took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
  // Once its head is there the receiver has answered, whatever becomes of the rest.
  if (head_complete_) {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    return;
  }
  answer.status = 0;
  answer.reason = reason_of(code);
  answer.detail = error_.front() != '\0' ? error_.data() : curl_easy_strerror(code);
  if (answer.reason == NoAnswer::ssrf_refused) answer.detail = refused_;
  if (answer.reason == NoAnswer::too_large) answer.detail = "the head of the answer has more than 64 KiB";
}

void Transfer::abandon() {
  exchange_->took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_);
  exchange_->answer.status = 0;
  exchange_->answer.reason = NoAnswer::stopped;
  exchange_->answer.detail = "stopped while waiting for it";
}

NoAnswer Transfer::reason_of(CURLcode code) const {
  if (!refused_.empty() && code != CURLE_OPERATION_TIMEDOUT) return NoAnswer::ssrf_refused;
  if (header_bytes_ > kMostHead) return NoAnswer::too_large;
  if (is_tls(code)) return NoAnswer::tls;
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return NoAnswer::timeout;
    case CURLE_COULDNT_RESOLVE_HOST:
      return NoAnswer::name;
    case CURLE_COULDNT_CONNECT: {
      long problem = 0;
      curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &problem);
      return problem == ECONNREFUSED ? NoAnswer::connection_refused : NoAnswer::unreachable;
    }
    default:
      return NoAnswer::connection_lost;
  }
}

void Transfer::read_header(std::string_view line) {
  Answer& answer = exchange_->answer;
  if (line.starts_with("HTTP/")) {
    answer.headers.clear();
    return;
  }
  if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    keep_header(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
  if (!trimmed(line).empty()) return;
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  head_complete_ = status >= 200;  // `100 Continue` is not the answer
}

void Transfer::keep_header(std::string_view name, std::string_view value) {
  const auto same = [name](std::string_view kept) { return is_same_ignoring_case(name, kept); };
  const auto kept = std::find_if(options_.kept_headers.begin(), options_.kept_headers.end(), same);
  if (kept != options_.kept_headers.end()) exchange_->answer.headers.insert_or_assign(*kept, value);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view line{data, size * count};
  // Trailers look like headers; they are not the head of an answer.
  if (transfer.head_complete_) return line.size();
  transfer.header_bytes_ += line.size();
  if (transfer.header_bytes_ > kMostHead) return 0;
  transfer.read_header(line);
  return line.size();
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t given = size * count;
  std::string& body = transfer.exchange_->answer.body;
  body.append(data, std::min(given, kMostKept - std::min(kMostKept, body.size())));
  transfer.body_bytes_ += given;
  return transfer.body_bytes_ > kMostBody ? 0 : given;  // less than was given ends the transfer
}

curl_socket_t Transfer::on_socket(void* self, curlsocktype purpose, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  const auto ip = purpose == CURLSOCKTYPE_IPCXN ? ip_of(*address) : std::nullopt;
  if (!ip) {
    transfer.refused_ = "the address is no Internet address";
    return CURL_SOCKET_BAD;
  }
  if (auto refusal = transfer.options_.guard->refusal(*ip)) {
    transfer.refused_ = *std::move(refusal);
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace sluice::http_client
