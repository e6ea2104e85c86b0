// Thousands of damaged payloads, the same ones in every run: reading never crashes, and the struct and
// its schema agree on which of them fit.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include <sluice/payload.hpp>
#include "core/contract.hpp"
#include "core/payload_samples.hpp"

namespace sluice {
namespace {

constexpr std::string_view kPieces = "{}[]\",:\\u0eE+-.tfn 19\n\x80\xC3";

class Mutator {
 public:
  std::string mutate(std::string_view original) {
    std::string text{original};
    for (std::size_t changes = 1 + below(2); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(4)) {
      case 0:
        text.insert(at, 1, kPieces[below(kPieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        if (at < text.size()) text[at] = kPieces[below(kPieces.size())];
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(12)));
        break;
    }
  }

  std::mt19937_64 random_{41};
};

TEST(PayloadMutation, StructAndSchemaAgreeOnDamagedPayloads) {
  const auto contract = read_contract(payload_schema<test::OrderPlaced>(), "schema");
  ASSERT_TRUE(contract) << contract.error().message;
  Mutator mutator;
  int accepted = 0;
  int misfits = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = mutator.mutate(test::kOrderJson);
    const auto read = from_payload<test::OrderPlaced>(text);
    const auto checked = check_payload(*contract, text);
    ASSERT_EQ(read.has_value(), checked.has_value()) << text;
    if (read) {
      ++accepted;
      ASSERT_EQ(*from_payload<test::OrderPlaced>(to_payload(*read)), *read) << text;
    } else {
      ASSERT_EQ(read.error().message, checked.error().message) << text;
      if (read.error().field.size() > std::string_view{"payload"}.size()) ++misfits;
    }
  }
  // Each outcome must have been met, or the test proves nothing.
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(misfits, 1000);
}

}  // namespace
}  // namespace sluice
