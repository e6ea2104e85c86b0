// The server over real sockets: what is sent, byte by byte, and what comes back.
#include "http/server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <latch>

#include "http/work_pool.hpp"

namespace sluice::http {
namespace {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Client& send(std::string_view text) {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return *this;
  }
  void finish() { ::shutdown(socket_, SHUT_WR); }
  /// Until this has come, or the end.
  std::string until(std::string_view mark) {
    while (heard_.find(mark) == std::string::npos && read()) {
    }
    return heard_;
  }
  /// Until the server closes.
  std::string all() {
    while (read()) {
    }
    return heard_;
  }
  void forget() { heard_.clear(); }

 private:
  bool read() {
    std::array<char, 4096> buffer{};
    const ssize_t bytes = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (bytes <= 0) return false;
    heard_.append(buffer.data(), static_cast<std::size_t>(bytes));
    return true;
  }
  int socket_;
  std::string heard_;
};

class ServerTest : public testing::Test {
 protected:
  Router routes() {
    Router router;
    router.add(
        {"GET", "/hello", Role::anyone, 0, [](const Call&) { return json_response(200, R"({"hello":1})"); }, {}});
    router.add({"POST",
                "/echo",
                Role::anyone,
                64,
                [](const Call& call) { return json_response(200, call.request.body); },
                {}});
    router.add({"GET",
                "/stream",
                Role::anyone,
                0,
                [this](const Call&) {
                  return Response{
                      200, {}, {}, [this](std::shared_ptr<Stream> stream) { streams.set_value(std::move(stream)); }};
                },
                {}});
    return router;
  }
  std::unique_ptr<Server> started(ServerOptions options) {
    auto begun = Server::start(std::move(options), application);
    EXPECT_TRUE(begun) << begun.error().message;
    return *std::move(begun);
  }

  std::promise<std::shared_ptr<Stream>> streams;
  WorkPool pool{1, 10};
  std::shared_ptr<Application> application = std::make_shared<Application>(
      routes(), Access{AccessRules{}},
      ApplicationOptions{{}, [this](auto work) { return pool.run(std::move(work)); }, {}, {}});
  std::unique_ptr<Server> server = started({.max_connections = 8, .max_header_bytes = 2048, .max_body_bytes = 128});
  Client client{server->port()};
};

constexpr std::string_view kHost = "Host: localhost\r\n";
std::string get(std::string_view path, std::string_view more = "") {
  return "GET " + std::string{path} + " HTTP/1.1\r\n" + std::string{kHost} + std::string{more} + "\r\n";
}
std::string post(std::string_view headers, std::string_view body) {
  return "POST /echo HTTP/1.1\r\n" + std::string{kHost} + std::string{headers} + "\r\n" + std::string{body};
}

TEST_F(ServerTest, AnswersOneRequestAfterTheOtherOnOneConnection) {
  for (int i = 0; i < 3; ++i) {
    client.forget();
    EXPECT_TRUE(client.send(get("/hello")).until("}").starts_with("HTTP/1.1 200 OK\r\n"));
  }
  EXPECT_EQ(server->counts().accepted, 1U);
}

TEST_F(ServerTest, RequestsMayComeInOnePiece) {
  client.send(get("/hello") + get("/hello", "Connection: close\r\n"));
  const std::string heard = client.all();
  EXPECT_NE(heard.find("HTTP/1.1 200", 10), std::string::npos) << heard;
}

TEST_F(ServerTest, TakesABodyOfItsLengthOrInChunks) {
  EXPECT_TRUE(client.send(post("Content-Length: 2\r\n", "{}")).until("\r\n\r\n{}").ends_with("{}"));
  client.forget();
  EXPECT_TRUE(client.send(post("Transfer-Encoding: chunked\r\n", "2\r\n[]\r\n0\r\n\r\n")).until("[]").ends_with("[]"));
}

TEST_F(ServerTest, HeadHasNoBody) {
  client.send("HEAD /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string heard = client.all();
  EXPECT_NE(heard.find("Content-Length: 11"), std::string::npos);
  EXPECT_TRUE(heard.ends_with("\r\n\r\n"));
}

TEST_F(ServerTest, TheBodyIsInvitedWhenItIsWelcome) {
  client.send(post("Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
  EXPECT_TRUE(client.until("\r\n\r\n").starts_with("HTTP/1.1 100 Continue"));
  EXPECT_TRUE(client.send("{}").until("\r\n\r\n{}").ends_with("{}"));
}

struct Refusal {
  std::string name;
  std::string request;
  std::string answer;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

std::string many_fields() {
  std::string fields;
  for (int i = 0; i < 400; ++i) fields += "a" + std::to_string(i) + ": b\r\n";
  return fields;
}

class RefusedRequests : public ServerTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusedRequests, GetAnAnswerAndTheEnd) {
  client.send(GetParam().request);
  client.finish();
  EXPECT_EQ(client.all().substr(0, 12), GetParam().answer);
  EXPECT_TRUE(Client{server->port()}.send(get("/hello")).until("}").starts_with("HTTP/1.1 200")) << "others are served";
}

INSTANTIATE_TEST_SUITE_P(
    ServerTest, RefusedRequests,
    testing::Values(Refusal{"NoHttp", "hello\r\n\r\n", "HTTP/1.1 400"},
                    Refusal{"Http2", "GET / HTTP/2.0\r\n\r\n", "HTTP/1.1 505"},
                    Refusal{"NoHost", "GET /hello HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
                    Refusal{"NoHostBefore11", "GET /hello HTTP/1.0\r\n\r\n", "HTTP/1.1 400"},
                    Refusal{"OtherHost", "GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 421"},
                    Refusal{"Packed", post("Content-Length: 2\r\nContent-Encoding: gzip\r\n", "{}"), "HTTP/1.1 415"},
                    Refusal{"TwoHosts", get("/hello", "Host: localhost\r\n"), "HTTP/1.1 400"},
                    Refusal{"LengthAndChunks", post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
                            "HTTP/1.1 400"},
                    Refusal{"ChunksAndLength", post("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "0\r\n\r\n"),
                            "HTTP/1.1 400"},
                    Refusal{"OtherCoding", post("Transfer-Encoding: xchunked\r\n", get("/hello")), "HTTP/1.1 501"},
                    Refusal{"CodingsInARow", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "HTTP/1.1 501"},
                    Refusal{"ManySmallFields", get("/hello", many_fields()), "HTTP/1.1 431"},
                    Refusal{"TwoLengths", post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"), "HTTP/1.1 400"},
                    Refusal{"NegativeLength", post("Content-Length: -2\r\n", "{}"), "HTTP/1.1 400"},
                    Refusal{"BadChunk", post("Transfer-Encoding: chunked\r\n", "zz\r\n"), "HTTP/1.1 400"},
                    Refusal{"HugeHead", get("/hello", "X-Long: " + std::string(4000, 'x') + "\r\n"), "HTTP/1.1 431"},
                    Refusal{"HugeBody", post("Content-Length: 100\r\n", ""), "HTTP/1.1 413"},
                    Refusal{"HugeChunks",
                            post("Transfer-Encoding: chunked\r\n", "60\r\n" + std::string(96, 'x') + "\r\n0\r\n\r\n"),
                            "HTTP/1.1 413"},
                    Refusal{"BodyWhereNoneIsTaken", get("/hello", "Content-Length: 2\r\n") + "{}", "HTTP/1.1 413"},
                    Refusal{"Traversal", get("/../etc/passwd"), "HTTP/1.1 400"},
                    Refusal{"AbsoluteForm", get("http://elsewhere/hello"), "HTTP/1.1 400"},
                    Refusal{"OddExpectation", post("Content-Length: 2\r\nExpect: miracles\r\n", ""), "HTTP/1.1 417"},
                    Refusal{"UnknownMethod", "BREW /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405"}),
    [](const auto& refusal) { return refusal.param.name; });

TEST_F(ServerTest, ASlowHeadIsCutOff) {
  const auto hasty = started({.header_timeout = std::chrono::milliseconds{20}});
  Client slow{hasty->port()};
  slow.send("GET /hello HT");
  EXPECT_EQ(slow.all(), "");
  EXPECT_TRUE(Client{hasty->port()}.send(get("/hello")).until("}").starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, ASilentConnectionIsEnded) {
  const auto hasty = started({.idle_timeout = std::chrono::milliseconds{20}});
  EXPECT_EQ(Client{hasty->port()}.all(), "");
}

TEST_F(ServerTest, MoreConnectionsThanAllowedAreTurnedAway) {
  const auto small = started({.max_connections = 1});
  Client first{small->port()};
  first.send(get("/hello")).until("}");
  EXPECT_EQ(Client{small->port()}.all(), "");
  EXPECT_EQ(small->counts().turned_away, 1U);
}

TEST_F(ServerTest, AStreamSendsPiecesUntilItIsClosed) {
  client.send(get("/stream"));
  const auto stream = streams.get_future().get();
  EXPECT_TRUE(stream->send("one"));
  EXPECT_NE(client.until("one").find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(stream->send("two"));
  stream->close();
  EXPECT_TRUE(client.all().ends_with("3\r\ntwo\r\n0\r\n\r\n"));
}

TEST_F(ServerTest, AStreamNoticesThatItsPeerIsGone) {
  auto gone = std::make_unique<Client>(server->port());
  gone->send(get("/stream")).until("\r\n\r\n");
  const auto stream = streams.get_future().get();
  gone.reset();
  while (stream->send("still there?")) {
  }
}

TEST_F(ServerTest, AStreamThatNobodyReadsIsEnded) {
  client.send(get("/stream"));
  const auto stream = streams.get_future().get();
  int sent = 0;
  while (stream->send(std::string(64 * 1024, 'x')) && sent < 10'000) ++sent;
  EXPECT_LT(sent, 10'000) << "what piles up is bounded";
}

TEST_F(ServerTest, ClosingLetsAnswersUnderWayThrough) {
  std::latch begun{1};
  std::latch go{1};
  Router router;
  router.add({"GET",
              "/slow",
              Role::anyone,
              0,
              [&](const Call&) {
                begun.count_down();
                go.wait();
                return json_response(200, R"({"late":1})");
              },
              {}});
  WorkPool own{1, 10};
  application = std::make_shared<Application>(
      std::move(router), Access{AccessRules{}},
      ApplicationOptions{{}, [&](auto work) { return own.run(std::move(work)); }, {}, {}});
  const auto closing = started({});
  Client slow{closing->port()};
  slow.send(get("/slow"));
  begun.wait();
  closing->close();
  go.count_down();
  const std::string heard = slow.all();
  EXPECT_NE(heard.find(R"({"late":1})"), std::string::npos);
  EXPECT_NE(heard.find("Connection: close"), std::string::npos);
}

TEST_F(ServerTest, AnAddressThatIsTakenIsAnError) {
  const auto second = Server::start({.port = server->port()}, application);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().field, "http.listen");
}

}  // namespace
}  // namespace sluice::http
