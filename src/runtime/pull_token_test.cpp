#include "runtime/pull_token.hpp"

#include <gtest/gtest.h>

#include "crypto/digest.hpp"

namespace sluice::runtime {
namespace {

PullToken a_token() {
  PullToken token;
  token.claim.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  token.claim.claim_seq = 7;
  token.claim.batch = -1;
  token.claim.locator = 18'446'744'073'709'551'615U;
  token.handler_name = "billing.mailer";
  token.worker = "host-7:4711";
  return token;
}

TEST(PullToken, IsReadBack) {
  const auto token = parse_pull_token(token_text(a_token()));
  ASSERT_TRUE(token);
  EXPECT_EQ(token->claim.event_id, a_token().claim.event_id);
  EXPECT_EQ(token->claim.claim_seq, 7);
  EXPECT_EQ(token->claim.batch, -1);
  EXPECT_EQ(token->claim.locator, a_token().claim.locator);
  EXPECT_EQ(token->handler_name, "billing.mailer");
  EXPECT_EQ(token->worker, "host-7:4711");
}

TEST(PullToken, AnythingElseIsNone) {
  EXPECT_FALSE(parse_pull_token(""));
  EXPECT_FALSE(parse_pull_token("nonsense"));
  const std::string id = "01890a5d-ac96-774b-bcce-b302099a8057";
  for (const std::string& text : std::vector<std::string>{
           std::string{"c1"}, "c2~" + id + "~1~1~1~a.b~w", "c1~" + id + "~1~1~1~a.b", "c1~" + id + "~1~1~1~a.b~w~x",
           "c1~" + id + "~x~1~1~a.b~w", "c1~" + id + "~1~1~-1~a.b~w", "c1~" + id + "~1~1~1~ab~w",
           std::string{"c1~7~1~1~1~a.b~w"}, std::string{"~~~~~~"}}) {
    EXPECT_FALSE(parse_pull_token(crypto::to_base64(text))) << text;
  }
}

}  // namespace
}  // namespace sluice::runtime
