#include "http/session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/words.hpp"
#include "http/message.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Parser = beast::http::request_parser<beast::http::string_body>;
using Code = boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{8} * 1024;
constexpr std::size_t kMostPiled = std::size_t{1024} * 1024;  // of a stream that its peer does not read
constexpr auto kLinger = std::chrono::seconds{2};

// Twice the same of these is an attempt to be understood in two ways.
bool must_be_single(std::string_view name) {
  return name == "host" || name == "authorization" || name == "content-type" || name == "origin";
}

std::optional<Headers> headers_of(const Parser::value_type& message) {
  Headers headers;
  for (const auto& field : message) {
    const std::string name = lower_case({field.name_string().data(), field.name_string().size()});
    const std::string_view value{field.value().data(), field.value().size()};
    const auto [at, fresh] = headers.emplace(name, value);
    if (fresh) continue;
    if (must_be_single(name)) return std::nullopt;
    at->second += ", ";
    at->second += value;
  }
  return headers;
}

// Too slow, and so closed by the deadline, or gone by itself: nobody is left to tell.
bool is_gone(const Code& problem) {
  return problem == beast::error::timeout || problem == asio::error::operation_aborted ||
         problem == asio::error::connection_reset;
}

Response refusal_for(const Code& problem) {
  using beast::http::error;
  if (problem == error::header_limit || problem == error::buffer_overflow) {
    return http::problem(431, "header_too_large", "the head of the request is too large");
  }
  if (problem == error::body_limit) return http::problem(413, "too_large", "the body is larger than is taken here");
  if (problem == error::bad_version) return http::problem(505, "bad_version", "this server speaks HTTP/1.1");
  return http::problem(400, "malformed", "this is not HTTP: " + problem.message());
}

}  // namespace

class Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(asio::ip::tcp::socket socket, std::shared_ptr<SessionContext> context)
      : context_(std::move(context)),
        stream_(std::move(socket)),
        buffer_(context_->options.max_header_bytes + kReadBytes) {
    ++context_->connections;
    Code ignored;
    const auto peer = stream_.socket().remote_endpoint(ignored);
    if (!ignored) peer_ = peer.address().to_string() + ':' + std::to_string(peer.port());
    stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  }
  ~Session() {
    context_->forget(this);
    --context_->connections;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void next_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(context_->options.max_header_bytes));
    parser_->body_limit(context_->options.max_body_bytes);
    if (context_->closing) return finish();
    if (buffer_.size() > 0) return read_head();
    idle_ = true;
    stream_.expires_after(context_->options.idle_timeout);
    stream_.async_read_some(buffer_.prepare(kReadBytes), [self = shared_from_this()](Code problem, std::size_t bytes) {
      self->idle_ = false;
      if (problem) return;
      self->buffer_.commit(bytes);
      self->read_head();
    });
  }

  void close_if_idle() {
    if (idle_) close();
  }
  void close() { stream_.close(); }

 private:
  friend class SessionStream;

  void read_head() {
    stream_.expires_after(context_->options.header_timeout);
    beast::http::async_read_header(stream_, buffer_, *parser_,
                                   [self = shared_from_this()](Code problem, std::size_t bytes) {
                                     if (problem == beast::http::error::end_of_stream) return self->finish();
                                     if (is_gone(problem)) return;
                                     // The parser counts less than what was sent where there are many small fields.
                                     if (!problem && bytes > self->context_->options.max_header_bytes)
                                       problem = beast::http::error::header_limit;
                                     if (problem) return self->refuse(refusal_for(problem));
                                     self->head_read();
                                   });
  }

  void head_read() {
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    head_only_ = message.method() == beast::http::verb::head;
    chunked_answers_ = message.version() >= 11;
    request_ = {};
    request_.method = std::string{message.method_string().data(), message.method_string().size()};
    request_.peer = peer_;
    auto headers = headers_of(message);
    if (!headers) return refuse(http::problem(400, "malformed", "duplicate header"));
    request_.headers = *std::move(headers);
    if (message.version() >= 11 && !request_.header("host")) {
      return refuse(http::problem(400, "malformed", "the request has no Host header"));
    }
    // The parser takes a body in any other coding for none, and what follows would pass for the next request.
    if (const auto coding = request_.header("transfer-encoding"); coding && lower_case(*coding) != "chunked") {
      return refuse(http::problem(501, "unsupported_coding", "the only transfer coding that is taken is chunked"));
    }
    const std::string_view target{message.target().data(), message.target().size()};
    application_ = context_->application;
    admission_ = application_->admit(request_, target);
    if (admission_.refusal) return refuse(*std::move(admission_.refusal));
    const std::size_t limit = std::min(admission_.body_limit, context_->options.max_body_bytes);
    const auto length = parser_->content_length();
    if (length && *length > limit) {
      return refuse(http::problem(
          413, "too_large", "the body is larger than the " + std::to_string(limit) + " bytes that are taken here"));
    }
    if (parser_->is_done()) return handle();
    parser_->body_limit(limit);
    const auto expect = request_.header("expect");
    if (!expect) return read_body();
    if (lower_case(*expect) != "100-continue") {
      return refuse(http::problem(417, "expectation_failed", "only 100-continue may be expected"));
    }
    out_ = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_.expires_after(context_->options.write_timeout);
    asio::async_write(stream_, asio::buffer(out_), [self = shared_from_this()](Code problem, std::size_t) {
      if (!problem) self->read_body();
    });
  }

  void read_body() {
    stream_.expires_after(context_->options.body_timeout);
    beast::http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Code problem, std::size_t) {
      if (is_gone(problem)) return;
      if (problem) return self->refuse(refusal_for(problem));
      self->handle();
    });
  }

  void handle() {
    request_.body = std::move(parser_->get().body());
    stream_.expires_never();
    // Whoever answers may be another thread, and may be late.
    application_->handle(std::move(request_), std::move(admission_), [self = shared_from_this()](Response response) {
      asio::post(self->context_->io,
                 [self, response = std::move(response)]() mutable { self->answer(std::move(response)); });
    });
  }

  void refuse(Response response) {
    keep_alive_ = false;
    answer(std::move(response));
  }

  void answer(Response response) {
    response_ = std::move(response);
    keep_alive_ = keep_alive_ && !context_->closing;
    const bool streams = response_.stream && !head_only_;
    if (streams && !chunked_answers_) keep_alive_ = false;
    out_ = wire_head(response_, {keep_alive_, streams && chunked_answers_, streams});
    std::array<asio::const_buffer, 2> parts{asio::buffer(out_), asio::const_buffer{}};
    if (!head_only_ && !streams) parts[1] = asio::buffer(response_.body);
    stream_.expires_after(context_->options.write_timeout);
    asio::async_write(stream_, parts, [self = shared_from_this(), streams](Code problem, std::size_t) {
      if (problem) return;
      if (streams) return self->begin_stream();
      self->keep_alive_ ? self->next_request() : self->finish();
    });
  }

  // The peer may still be sending; closing at once would reset the connection and lose the answer.
  void finish() {
    Code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
    discard();
  }

  void discard() {
    stream_.async_read_some(asio::buffer(discarded_), [self = shared_from_this()](Code problem, std::size_t bytes) {
      self->discarded_bytes_ += bytes;
      if (!problem && self->discarded_bytes_ < kMostPiled) self->discard();
    });
  }

  void begin_stream();
  void watch_peer() {
    stream_.async_read_some(asio::buffer(discarded_), [self = shared_from_this()](Code, std::size_t) {
      // Nothing may come any more: it is the end, or a peer that does not keep to the protocol.
      self->end_stream();
    });
  }

  void push(std::string piece) {
    if (ended_ || closing_stream_) return;
    pieces_.push_back(chunked_answers_ ? chunk(piece) : std::move(piece));
    if (pieces_.size() == 1) write_piece();
  }

  void write_piece() {
    stream_.expires_after(context_->options.write_timeout);
    asio::async_write(stream_, asio::buffer(pieces_.front()), [self = shared_from_this()](Code problem, std::size_t) {
      self->piled_ -= self->pieces_.front().size();
      self->pieces_.pop_front();
      if (problem) return self->end_stream();
      if (!self->pieces_.empty()) return self->write_piece();
      self->stream_.expires_never();
      if (self->closing_stream_) self->end_stream();
    });
  }

  void close_stream() {
    if (ended_ || closing_stream_) return;
    closing_stream_ = true;
    if (!chunked_answers_) {
      if (pieces_.empty()) end_stream();
      return;
    }
    constexpr std::string_view kLastChunk = "0\r\n\r\n";
    piled_ += kLastChunk.size();
    pieces_.emplace_back(kLastChunk);
    if (pieces_.size() == 1) write_piece();
  }

  void end_stream() {
    ended_ = true;
    stream_.close();
  }

  std::shared_ptr<SessionContext> context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::string peer_;
  std::optional<Parser> parser_;
  std::shared_ptr<const Application> application_;  // of this request, whatever is exchanged meanwhile
  Request request_;
  Application::Admission admission_;
  Response response_;
  std::string out_;
  bool idle_ = false;
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool chunked_answers_ = true;
  std::array<char, 1024> discarded_{};
  std::size_t discarded_bytes_ = 0;
  // Of a stream: what is still to be sent.
  std::deque<std::string> pieces_;
  std::atomic<std::size_t> piled_{0};
  std::atomic<bool> ended_{false};
  bool closing_stream_ = false;
};

class SessionStream final : public Stream {
 public:
  explicit SessionStream(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~SessionStream() override { close(); }
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  bool send(std::string piece) override {
    if (session_->ended_) return false;
    session_->piled_ += piece.size() + (session_->chunked_answers_ ? chunk_overhead(piece.size()) : 0);
    if (session_->piled_ > kMostPiled) {
      asio::post(session_->context_->io, [session = session_] { session->end_stream(); });
      return false;
    }
    asio::post(session_->context_->io,
               [session = session_, piece = std::move(piece)]() mutable { session->push(std::move(piece)); });
    return true;
  }

  void close() override {
    asio::post(session_->context_->io, [session = session_] { session->close_stream(); });
  }

 private:
  std::shared_ptr<Session> session_;
};

void Session::begin_stream() {
  stream_.expires_never();
  watch_peer();
  response_.stream(std::make_shared<SessionStream>(shared_from_this()));
}

void SessionContext::remember(const std::shared_ptr<Session>& session) {
  const std::lock_guard lock{mutex_};
  open_.emplace(session.get(), session);
}

void SessionContext::forget(Session* session) {
  const std::lock_guard lock{mutex_};
  open_.erase(session);
}

std::vector<std::shared_ptr<Session>> SessionContext::open_sessions() {
  std::vector<std::shared_ptr<Session>> sessions;
  const std::lock_guard lock{mutex_};
  for (const auto& [unused, session] : open_) {
    if (auto alive = session.lock()) sessions.push_back(std::move(alive));
  }
  return sessions;
}

void SessionContext::close_idle() {
  for (const auto& session : open_sessions()) session->close_if_idle();
}

void SessionContext::close_all() {
  for (const auto& session : open_sessions()) session->close();
}

void start_session(asio::ip::tcp::socket socket, const std::shared_ptr<SessionContext>& context) {
  const auto session = std::make_shared<Session>(std::move(socket), context);
  context->remember(session);
  session->next_request();
}

}  // namespace sluice::http
