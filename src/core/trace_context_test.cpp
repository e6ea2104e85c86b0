#include "core/trace_context.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContext, ReadsBackWhatItWrites) {
  const auto context = parse_traceparent(kParent);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->is_sampled());
  EXPECT_EQ(context->trace_id(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(context->span_id_text(), "b7ad6b7169203331");
  EXPECT_EQ(context->traceparent(), kParent);
}

TEST(TraceContext, OnlyTheLowestBitOfTheFlagsSaysSampled) {
  EXPECT_FALSE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02")->is_sampled());
  EXPECT_TRUE(parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")->is_sampled());
}

TEST(TraceContext, RefusesWhatIsNone) {
  for (const char* bad : {"", "nonsense", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
                          "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}) {
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  }
}

TEST(TraceContext, TheAddressOfATraceHasItsId) {
  EXPECT_EQ(trace_url("https://t.example/{trace_id}?s=1", std::string{kParent}),
            "https://t.example/0af7651916cd43dd8448eb211c80319c?s=1");
  EXPECT_EQ(trace_url("", std::string{kParent}), std::nullopt);
  EXPECT_EQ(trace_url("https://t.example/{trace_id}", std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace sluice
