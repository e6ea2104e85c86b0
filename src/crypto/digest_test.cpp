#include "crypto/digest.hpp"

#include <gtest/gtest.h>

namespace sluice::crypto {
namespace {

// FIPS 180-2, appendix B.
TEST(Digest, Sha256OfTheKnownExamples) {
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// RFC 4231, cases 2 and 6 (a key longer than a block).
TEST(Digest, HmacOfTheKnownExamples) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, EqualComparesAllOfIt) {
  EXPECT_TRUE(equal("secret", "secret"));
  EXPECT_FALSE(equal("secret", "secreT"));
  EXPECT_FALSE(equal("secret", "secre"));
  EXPECT_TRUE(equal("", ""));
  EXPECT_TRUE(equal(sha256("a"), sha256("a")));
  EXPECT_FALSE(equal(sha256("a"), sha256("b")));
}

TEST(Digest, HexGoesBothWays) {
  EXPECT_EQ(from_hex("00fFa0"), std::string("\x00\xff\xa0", 3));
  EXPECT_EQ(to_hex(*from_hex("00ffa0")), "00ffa0");
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("zz"));
}

// RFC 4648, section 10.
TEST(Digest, Base64GoesBothWays) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(std::string_view{bytes}), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Digest, Base64RefusesWhatIsNotCanonical) {
  for (const std::string_view text : {"Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm 9v===", "Zm9-", "Zh==", "=Zm9"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(Digest, RandomBytesDiffer) {
  EXPECT_EQ(random_bytes(16).size(), 16U);
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

}  // namespace
}  // namespace sluice::crypto
