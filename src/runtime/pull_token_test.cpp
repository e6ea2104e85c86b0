#include "runtime/pull_token.hpp"

#include "crypto/digest.hpp"
#include "tests/support/pull_fixture.hpp"

namespace sluice::runtime {
namespace {

constexpr std::string_view kSecret = "a secret of the store";

PullToken a_token() {
  PullToken token;
  token.claim.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  token.claim.claim_seq = 7;
  token.claim.batch = -1;
  token.claim.locator = 18'446'744'073'709'551'615U;
  token.claim.occurred_at = Timestamp{std::chrono::microseconds{1'793'000'000'123'456}};
  token.handler_name = "billing.mailer";
  token.worker = "host-7:4711";
  return token;
}

std::string signed_by_hand(const std::string& text, std::string_view secret = kSecret) {
  const auto digest = crypto::hmac_sha256(secret, text);
  return crypto::to_base64(std::string(digest.begin(), digest.end()) + text);
}

TEST(PullToken, IsReadBack) {
  const auto token = parse_pull_token(token_text(a_token(), kSecret), kSecret);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->claim.event_id, a_token().claim.event_id);
  EXPECT_EQ(token->claim.claim_seq, 7);
  EXPECT_EQ(token->claim.batch, -1);
  EXPECT_EQ(token->claim.locator, a_token().claim.locator);
  EXPECT_EQ(token->claim.occurred_at, a_token().claim.occurred_at);
  EXPECT_EQ(token->handler_name, "billing.mailer");
  EXPECT_EQ(token->worker, "host-7:4711");
}

TEST(PullToken, AnotherSecretSignsNothing) {
  EXPECT_FALSE(parse_pull_token(token_text(a_token(), "another secret"), kSecret));
  EXPECT_FALSE(parse_pull_token(token_text(a_token(), ""), ""));
}

TEST(PullToken, EveryByteIsSigned) {
  const std::string bytes = *crypto::from_base64(token_text(a_token(), kSecret));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(parse_pull_token(crypto::to_base64(changed), kSecret)) << i;
    EXPECT_FALSE(parse_pull_token(crypto::to_base64(bytes.substr(0, i)), kSecret)) << i;
  }
  EXPECT_FALSE(parse_pull_token(crypto::to_base64(bytes + '\0'), kSecret));
}

TEST(PullToken, AnythingElseIsNone) {
  EXPECT_FALSE(parse_pull_token("", kSecret));
  EXPECT_FALSE(parse_pull_token("nonsense", kSecret));
  const std::string id = "01890a5d-ac96-774b-bcce-b302099a8057";
  EXPECT_TRUE(parse_pull_token(signed_by_hand("c3~" + id + "~1~1~1~0~a.b~w"), kSecret));
  for (const std::string& text :
       std::vector<std::string>{std::string{"c3"}, "c2~" + id + "~1~1~1~0~a.b~w", "c3~" + id + "~1~1~1~0~a.b",
                                "c3~" + id + "~1~1~1~0~a.b~w~x", "c3~" + id + "~x~1~1~0~a.b~w",
                                "c3~" + id + "~1~1~-1~0~a.b~w", "c3~" + id + "~1~1~1~0~ab~w",
                                "c3~" + id + "~1~1~1~0~a.b~", "c3~" + id + "~1~1~1~0~a.b~slot" + std::string(2, '\0'),
                                std::string{"c3~7~1~1~1~0~a.b~w"}, std::string{"~~~~~~~"}}) {
    EXPECT_FALSE(parse_pull_token(signed_by_hand(text), kSecret)) << text;
    EXPECT_FALSE(parse_pull_token(crypto::to_base64(text), kSecret)) << text;
  }
}

TEST(PullToken, NoClaimIsOfBatchZero) {
  const std::string id = "01890a5d-ac96-774b-bcce-b302099a8057";
  EXPECT_FALSE(parse_pull_token(signed_by_hand("c3~" + id + "~1~0~1~0~a.b~w"), kSecret));
}

class PullTokensTest : public PullFixture {};

TEST_F(PullTokensTest, AnyDaemonOfTheStoreReadsThem) {
  store.publish(test::events(1));
  const PulledEvent pulled = pull().at(0);
  PullTokens others{*store};
  const auto read = others.read(pulled.token);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->claim.event_id, pulled.event.envelope.event_id());
  EXPECT_NE((*read)->claim.batch, 0);
}

TEST_F(PullTokensTest, WhatSomebodyMadeUpIsNone) {
  store.publish(test::events(1));
  const PullToken held = token_of(pull().at(0));
  PullTokens tokens{*store};
  const auto read = tokens.read(token_text(held, "guessed"));
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

TEST_F(PullTokensTest, AStoreThatIsAwayIsAnErrorAndNothingIsClaimed) {
  const Uuid id = store.publish(test::events(1)).front();
  test::FaultyStore away{*store};
  away.fail_verb("token_secret", {ErrorCode::unavailable, Retry::safe, "away", {}, {}});
  EXPECT_FALSE(PullTokens{away}.read("x"));
  PullSettling reporting{away, presence, {}, {{}, [] { return 0.5; }}};
  PullClaims asking{away, reporting, presence, {}};
  Answered answer;
  asking.ask(a_question(), [&](auto given) { answer = std::move(given); });
  asking.step();
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(store.event(id).status, Status::pending);
}

}  // namespace
}  // namespace sluice::runtime
