// Thousands of damaged documents, the same ones in every run: the reader must never crash, and its
// entry points must agree on what is well-formed.
#include <gtest/gtest.h>
#include <array>
#include <random>
#include <string>

#include "core/json.hpp"

namespace sluice::json {
namespace {

constexpr std::array<std::string_view, 6> kSeeds{
    R"({"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","n":[1,-2.5e+3,true,false,null],"s":"\u00e9\ud83c\udf0d\n"})",
    R"({"a":{"b":{"c":[[[],{}],{"d":"e"}]}},"f":"\"\\\/"})",
    R"([{"k":0.000001},{"k":12345678901234567890123456789},"",[[[[1]]]]])",
    R"(  {  "x"  :  "y"  ,  "z"  :  [  ]  }  )",
    "{\"Grüße\":\"世界 🌍\",\"t\":\"tab\\t\"}",
    R"("\ud83c\udf0d plain")",
};
constexpr std::string_view kPieces = "{}[]\",:\\u0eE+-.tfn \n\t\x80\xC3\xED\xF0";

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string_view original) {
    std::string text{original};
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) change(text);
    return text;
  }

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

 private:
  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, kPieces[below(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(12)));
        break;
      default:
        text.resize(at);
        break;
    }
  }

  std::mt19937_64 random_;
};

void expect_agreement(std::string_view text) {
  const auto checked = check(text, "x");
  const auto found = members(text, "x");
  const auto listed = elements(text, "x");
  if (!checked) {
    ASSERT_FALSE(found) << text;
    ASSERT_FALSE(listed) << text;
    return;
  }
  ASSERT_EQ(listed.has_value(), *checked == Kind::array) << text;
  if (*checked == Kind::object) {
    ASSERT_TRUE(found || found.error().message.ends_with("twice")) << text;
  } else {
    ASSERT_FALSE(found) << text;
  }
  if (found) {
    for (const Member& member : *found) ASSERT_TRUE(check(member.value, "x")) << text;
  }
  if (listed) {
    for (const std::string_view element : *listed) ASSERT_TRUE(check(element, "x")) << text;
  }
}

TEST(JsonMutation, EntryPointsAgreeOnDamagedDocuments) {
  Mutator mutator{31};
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string text = mutator.mutate(kSeeds[mutator.below(kSeeds.size())]);
    expect_agreement(text);
    if (HasFatalFailure()) return;
    ++(check(text, "x") ? accepted : refused);
  }
  // Both sides must have been exercised, or the test proves nothing.
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(JsonMutation, EveryPrefixOfADocumentIsRefused) {
  for (const std::string_view seed : kSeeds) {
    const std::string_view text = seed.substr(0, seed.find_last_not_of(' ') + 1);
    ASSERT_TRUE(check(text, "x"));
    for (std::size_t length = 0; length < text.size(); ++length)
      EXPECT_FALSE(check(text.substr(0, length), "x")) << length;
  }
}

TEST(JsonMutation, AnyBytesQuotedAreAValidString) {
  std::mt19937_64 random{37};
  for (int round = 0; round < 5000; ++round) {
    std::string bytes(random() % 64, ' ');
    for (char& byte : bytes) byte = static_cast<char>(1 + random() % 255);
    const auto checked = check(quote(bytes), "x");
    ASSERT_TRUE(checked) << checked.error().message;
  }
}

}  // namespace
}  // namespace sluice::json
