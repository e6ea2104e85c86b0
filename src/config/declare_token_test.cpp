#include "config/declare_fixture.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kDigest = "0e0e92dd4d4c6ce5e5c1f3d2e2ee8c2c1d5c60e2c0a9b2d5a5f0d8a5f3c4b2a1";

TEST_F(Declaring, ATokenIsKeptAsItsDigest) {
  environment["OPS_TOKEN"] = "correct-horse-battery";
  const Declarations plain = declared("[tokens.alice]\nrole = \"admin\"\ntoken = \"correct-horse-battery\"\n");
  const Declarations named = declared("[tokens.alice]\nrole = \"admin\"\ntoken_env = \"OPS_TOKEN\"\n");
  ASSERT_EQ(plain.tokens.size(), 1U);
  EXPECT_EQ(plain.tokens[0].name, "alice");
  EXPECT_EQ(plain.tokens[0].role, "admin");
  EXPECT_EQ(plain.tokens[0].where, "f.toml:1:9");
  EXPECT_EQ(plain.tokens[0].sha256.size(), 64U);
  EXPECT_EQ(plain.tokens[0].sha256, named.tokens.at(0).sha256);
}

TEST_F(Declaring, ADigestIsTakenInEitherCase) {
  std::string upper{kDigest};
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Declarations all = declared("[tokens.\"ci@build\"]\nrole = \"viewer\"\ntoken_sha256 = \"" + upper + "\"\n");
  EXPECT_EQ(all.tokens.at(0).sha256, kDigest);
}

TEST_F(Declaring, ATokenNeedsARoleAndASecret) {
  EXPECT_THAT(refusal("[tokens.a]\ntoken = \"correct-horse-battery\"\n"),
              AllOf(StartsWith("f.toml:1:9: tokens.a.role is missing"), HasSubstr("viewer")));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"root\"\ntoken = \"correct-horse-battery\"\n"),
              AllOf(StartsWith("f.toml:2:1: tokens.a.role"), HasSubstr("viewer, operator, admin")));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\n"), HasSubstr("tokens.a.token_sha256 is missing"));
}

TEST_F(Declaring, AWeakTokenIsRefusedWithoutRepeatingIt) {
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\ntoken = \"hunter2\"\n"),
              AllOf(StartsWith("f.toml:3:1: tokens.a.token"), HasSubstr("16"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\ntoken_sha256 = \"abc\"\n"), HasSubstr("64 hexadecimal"));
}

TEST_F(Declaring, OneTokenCannotHaveTwoNames) {
  const std::string body = "role = \"admin\"\ntoken = \"correct-horse-battery\"\n";
  EXPECT_THAT(refusal("[tokens.a]\n" + body + "[tokens.b]\n" + body),
              AllOf(StartsWith("f.toml:4:9"), HasSubstr("tokens.b has the token of tokens.a")));
}

TEST_F(Declaring, AMissingVariableIsTheDaemonsProblem) {
  const Declarations all = declared("[tokens.a]\nrole = \"admin\"\ntoken_env = \"NOT_SET\"\n");
  ASSERT_TRUE(all.missing);
  EXPECT_THAT(all.missing->message, AllOf(StartsWith("f.toml:3:1: tokens.a.token_env"), HasSubstr("NOT_SET")));
}

}  // namespace
}  // namespace sluice::config
