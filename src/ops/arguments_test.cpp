#include "ops/arguments.hpp"

#include <gtest/gtest.h>

namespace sluice::ops {
namespace {

const std::vector<Parameter> kParameters{
    {"event_id", Parameter::Type::uuid, true, "which"},
    {"reason", Parameter::Type::text, false, "why"},
    {"limit", Parameter::Type::integer, false, "how many", 1, 100, 20},
};
constexpr std::string_view kId = "0190a5d0-0000-7000-8000-000000000001";

std::string with_id(const std::string& more) { return R"({"event_id":")" + std::string{kId} + '"' + more + '}'; }

Error refusal(const std::string& json) {
  const auto read = Arguments::read(kParameters, json);
  if (read) ADD_FAILURE() << json;
  return read ? Error{} : read.error();
}

TEST(Arguments, AreReadByType) {
  const auto read = Arguments::read(kParameters, with_id(R"(,"reason":"a\tb","limit":7)"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->uuid("event_id").to_string(), kId);
  EXPECT_EQ(read->text("reason"), "a\tb");
  EXPECT_EQ(read->integer("limit"), 7);
}

TEST(Arguments, WhatIsLeftOutHasItsDefaultOrNone) {
  const auto read = Arguments::read(kParameters, with_id(""));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text("reason"), std::nullopt);
  EXPECT_EQ(read->integer("limit"), 20);
  EXPECT_TRUE(Arguments::read({}, ""));
}

TEST(Arguments, ARefusalNamesTheArgument) {
  EXPECT_EQ(refusal("{}").message, "event_id is missing");
  EXPECT_EQ(refusal("{}").field, "event_id");
  const Error unknown = refusal(with_id(R"(,"all":true)"));
  EXPECT_EQ(unknown.field, "all");
  EXPECT_EQ(unknown.message, "`all` is not one of the arguments; these are event_id, reason, limit");
  EXPECT_EQ(refusal(R"({"event_id":7})").message, "event_id must be a string");
  EXPECT_EQ(refusal(R"({"event_id":"7"})").field, "event_id");
  EXPECT_EQ(refusal(with_id(R"(,"reason":" ")")).message, "reason must be a text that is not empty");
  EXPECT_EQ(refusal(with_id(R"(,"reason":")" + std::string(kMaxTextBytes + 1, 'x') + '"')).field, "reason");
  EXPECT_EQ(refusal(with_id(R"(,"reason":null)")).field, "reason");
  for (const char* limit : {"0", "101", "1.5", "\"7\"", "true", "99999999999999999999"}) {
    EXPECT_EQ(refusal(with_id(R"(,"limit":)" + std::string{limit})).message,
              "limit must be a whole number from 1 to 100")
        << limit;
  }
  EXPECT_EQ(refusal(R"({"event_id":"x","event_id":"y"})").code, ErrorCode::invalid);
}

const std::vector<Parameter> kMore{
    {"force", Parameter::Type::boolean, false, "whether"},
    {"except", Parameter::Type::uuids, false, "which not"},
    {"event_types", Parameter::Type::texts, false, "of which kind"},
};

TEST(Arguments, FlagsAndListsAreEmptyUnlessGiven) {
  const auto none = Arguments::read(kMore, "{}");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->flag("force"));
  EXPECT_TRUE(none->uuids("except").empty());
  EXPECT_TRUE(none->texts("event_types").empty());
  const auto given =
      Arguments::read(kMore, R"({"force":true,"except":[")" + std::string{kId} + R"("],"event_types":["a.*","b.c"]})");
  ASSERT_TRUE(given);
  EXPECT_TRUE(given->flag("force"));
  ASSERT_EQ(given->uuids("except").size(), 1U);
  EXPECT_EQ(given->uuids("except").front().to_string(), kId);
  EXPECT_EQ(given->texts("event_types"), (std::vector<std::string>{"a.*", "b.c"}));
}

TEST(Arguments, AListNamesWhatDoesNotBelong) {
  const auto wrong = [](const std::string& json) { return Arguments::read(kMore, json).error(); };
  EXPECT_EQ(wrong(R"({"except":["7"]})").message, "except must be a list of UUIDs; `7` is none");
  EXPECT_EQ(wrong(R"({"except":"7"})").field, "except");
  EXPECT_EQ(wrong(R"({"event_types":[7]})").message, "event_types must be a list of strings");
  EXPECT_EQ(wrong(R"({"force":1})").message, "force must be true or false");
}

TEST(Arguments, TheSchemaSaysTheSame) {
  EXPECT_EQ(input_schema(kParameters),
            R"({"type":"object","properties":{"event_id":{"type":"string","format":"uuid","description":"which"},)"
            R"("reason":{"type":"string","minLength":1,"maxLength":4096,"description":"why"},)"
            R"("limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"how many"}},)"
            R"("required":["event_id"],"additionalProperties":false})");
  EXPECT_EQ(input_schema({}), R"({"type":"object","properties":{},"additionalProperties":false})");
}

}  // namespace
}  // namespace sluice::ops
