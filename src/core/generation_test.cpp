#include "core/generation.hpp"

#include <gtest/gtest.h>
#include <initializer_list>

namespace sluice {
namespace {

constexpr std::initializer_list<GenerationState> kAll{GenerationState::allocated, GenerationState::live,
                                                      GenerationState::draining, GenerationState::retired};

template <class T>
std::string field_of(const Result<T>& result) {
  return result ? std::string{} : result.error().field;
}

TEST(GenerationState, OnlyFourMovesAreLegal) {
  int legal = 0;
  for (const auto from : kAll) {
    for (const auto to : kAll) legal += is_legal(from, to) ? 1 : 0;
  }
  EXPECT_EQ(legal, 4);
  EXPECT_TRUE(is_legal(GenerationState::allocated, GenerationState::live));
  EXPECT_TRUE(is_legal(GenerationState::live, GenerationState::draining));
  EXPECT_TRUE(is_legal(GenerationState::draining, GenerationState::retired));
  EXPECT_TRUE(is_legal(GenerationState::draining, GenerationState::live));
}

TEST(GenerationState, NamesReadBack) {
  for (const auto state : kAll) EXPECT_EQ(parse_generation_state(name(state)), state);
  EXPECT_EQ(parse_generation_state("dead"), std::nullopt);
}

TEST(Generation, ReadsWholeNumbersFromOne) {
  EXPECT_EQ(*parse_generation("1"), 1);
  EXPECT_EQ(*parse_generation("9223372036854775807"), 9223372036854775807);
  for (const std::string_view bad : {"", "0", "-1", "+1", "1.0", " 1", "1 ", "one", "9223372036854775808"}) {
    EXPECT_EQ(field_of(parse_generation(bad, "SLUICE_GENERATION")), "SLUICE_GENERATION") << bad;
  }
}

TEST(Channel, IsComposedFromGenerationAndClass) {
  EXPECT_EQ(*compose_channel(7), "outbox_gen_7");
  EXPECT_EQ(*compose_channel(7, "bulk"), "outbox_gen_7_bulk");
  EXPECT_EQ(field_of(compose_channel(0)), "generation");
  EXPECT_EQ(field_of(compose_channel(7, "Bulk")), "processing_class");
  EXPECT_EQ(field_of(compose_channel(7, "bulk-low")), "processing_class");
}

TEST(Channel, ComposedOnesKeepTheLimitOf63Bytes) {
  const std::string fits(63 - std::string_view{"outbox_gen_7_"}.size(), 'a');
  EXPECT_EQ(compose_channel(7, fits)->size(), 63U);
  EXPECT_EQ(field_of(compose_channel(7, fits + "a")), "processing_class");
}

TEST(Channel, IsSafeAsAnIdentifier) {
  EXPECT_TRUE(check_channel("outbox_default"));
  EXPECT_TRUE(check_channel("_x"));
  EXPECT_TRUE(check_channel(std::string(63, 'a')));
  EXPECT_EQ(check_channel(std::string(64, 'a')).error().message, "channel must be at most 63 bytes, not 64");
  for (const std::string_view bad : {"", "1a", "Outbox", "out box", "out-box", "out;drop", "gr\xC3\xBC"}) {
    EXPECT_EQ(field_of(check_channel(bad)), "channel") << bad;
  }
}

TEST(Context, IsALowerCaseName) {
  EXPECT_TRUE(check_context("worlds", "source"));
  EXPECT_TRUE(check_context("a1_b", "source"));
  for (const std::string_view bad : {"", "1a", "_a", "Worlds", "a.b", "a-b", "a b"}) {
    EXPECT_EQ(field_of(check_context(bad, "target")), "target") << bad;
  }
  EXPECT_TRUE(check_context(std::string(63, 'a'), "source"));
  EXPECT_EQ(field_of(check_context(std::string(64, 'a'), "source")), "source");
}

TEST(EventType, IsDotSeparated) {
  for (const std::string_view good :
       {"a", "demo.hello", "platform.scan.completed", "Order-Placed.v2", "a.1", "agent.task_x"}) {
    EXPECT_TRUE(check_event_type(good)) << good;
  }
  for (const std::string_view bad : {"", ".", "a.", ".a", "a..b", "1a", "_a", "a b", "a/b", "a.\xC3\xBC", "a\n"}) {
    EXPECT_EQ(field_of(check_event_type(bad)), "event_type") << bad;
  }
  EXPECT_TRUE(check_event_type(std::string(255, 'a')));
  EXPECT_EQ(field_of(check_event_type(std::string(256, 'a'))), "event_type");
}

TEST(HandlerName, IsScopeQualified) {
  EXPECT_TRUE(check_handler_name("worlds.scan_completed_indexer"));
  EXPECT_TRUE(check_handler_name("sluice.log"));
  EXPECT_TRUE(check_handler_name("a.b.c"));
  for (const std::string_view bad :
       {"", "indexer", "worlds.", ".indexer", "Worlds.indexer", "worlds.1a", "worlds..a", "a.b-c"}) {
    EXPECT_EQ(field_of(check_handler_name(bad)), "handler_name") << bad;
  }
  EXPECT_EQ(field_of(check_handler_name("a." + std::string(254, 'b'))), "handler_name");
}

TEST(TraceContext, IsALowerCaseTraceparent) {
  EXPECT_TRUE(check_trace_context("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  for (const std::string_view bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                                     "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                     "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
                                     "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
                                     "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"}) {
    EXPECT_EQ(field_of(check_trace_context(bad)), "trace_context") << bad;
  }
}

}  // namespace
}  // namespace sluice
