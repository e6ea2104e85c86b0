#include "http/message.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

TEST(WireHead, SaysLengthAndWhetherTheConnectionStays) {
  Response response = json_response(201, "{}");
  EXPECT_EQ(wire_head(response, {}),
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n");
  EXPECT_NE(wire_head(response, {.keep_alive = false}).find("Connection: close\r\n"), std::string::npos);
}

TEST(WireHead, AnEndlessAnswerHasNoLength) {
  const std::string head = wire_head(Response{}, {.chunked = true, .endless = true});
  EXPECT_NE(head.find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_EQ(wire_head({304, {}, {}, {}}, {}).find("Content-Length"), std::string::npos);
}

TEST(WireHead, AValueCannotBeginAnotherHeader) {
  Response response;
  response.with("X-Name", "a\r\nSet-Cookie: b");
  EXPECT_EQ(wire_head(response, {}).find("\r\nSet-Cookie"), std::string::npos);
}

TEST(WireHead, Chunks) {
  EXPECT_EQ(chunk("hello world, long"), "11\r\nhello world, long\r\n");
  EXPECT_EQ(chunk_overhead(17), 6U);
  EXPECT_EQ(chunk("x").size(), 1 + chunk_overhead(1));
}

}  // namespace
}  // namespace sluice::http
