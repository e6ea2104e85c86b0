#include "mcp/server.hpp"

#include <sstream>

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

class ServerTest : public ToolFixture {
 protected:
  std::string serve_text(const std::string& input, std::size_t limit = kMaxMessageBytes) {
    const Toolbox tools{context};
    Protocol protocol{tools, {"1.2.3", "alice@box", {}}};
    std::istringstream in{input};
    std::ostringstream out;
    serve(in, out, protocol, limit);
    return out.str();
  }
};

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kPong = R"({"jsonrpc":"2.0","id":1,"result":{}})";

TEST_F(ServerTest, AnswersLineByLineUntilTheInputEnds) {
  EXPECT_EQ(serve_text(kPing + "\n" + kPing + "\r\n"), kPong + "\n" + kPong + "\n");
  EXPECT_EQ(serve_text(kPing), kPong + "\n") << "the last line may lack its end";
  EXPECT_EQ(serve_text(""), "");
}

TEST_F(ServerTest, EmptyLinesAndNotificationsGetNoAnswer) {
  EXPECT_EQ(serve_text("\n  \n"
                       R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                       "\n"),
            "");
}

TEST_F(ServerTest, ALineThatIsTooLongIsRefusedAndTheNextOneAnswered) {
  const std::string answers = serve_text(std::string(200, 'x') + "\n" + kPing + "\n", 100);
  EXPECT_EQ(answers,
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message may have at most 100 bytes"}})"
            "\n" +
                kPong + "\n");
}

TEST_F(ServerTest, ALineOfExactlyTheLimitIsRead) {
  EXPECT_EQ(serve_text(kPing + "\n", kPing.size()), kPong + "\n");
  EXPECT_NE(serve_text(kPing + "\n", kPing.size() - 1), kPong + "\n");
}

TEST_F(ServerTest, NonsenseIsAParseErrorAndNotTheEnd) {
  const std::string answers = serve_text("nonsense\n" + kPing + "\n");
  EXPECT_NE(answers.find("-32700"), std::string::npos);
  EXPECT_TRUE(answers.ends_with(kPong + "\n"));
}

}  // namespace
}  // namespace sluice::mcp
