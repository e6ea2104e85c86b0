#include "ops/event_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::ops {
namespace {

using ::testing::HasSubstr;

const Timestamp kNow = parse_iso8601("2026-04-25T12:00:00Z").value();

store::EventFilter filter_of(std::string_view text) {
  const auto query = EventQuery::parse(text);
  EXPECT_TRUE(query) << (query ? "" : query.error().message);
  const auto filter = query->filter(kNow);
  EXPECT_TRUE(filter) << (filter ? "" : filter.error().message);
  return *filter;
}

std::string complaint(std::string_view text) {
  const auto query = EventQuery::parse(text);
  if (!query) {
    EXPECT_EQ(query.error().field, "filter");
    return query.error().message;
  }
  const auto filter = query->filter(kNow);
  EXPECT_FALSE(filter) << text;
  if (filter) return "";
  EXPECT_EQ(filter.error().field, "filter");
  return filter.error().message;
}

TEST(EventQuery, ReadsEveryKey) {
  const auto filter = filter_of(
      "type:billing.* source:shop target:mail class:timeout fp:0123456789abcdef gen:7 "
      "workspace:00000000-0000-7000-8000-000000000001 id:00000000-0000-7000-8000-000000000002 key:order-9 "
      "since:2h until:2026-04-25T11:30:00Z text:\"connection refused\" status:failed");
  EXPECT_EQ(filter.event_type, "billing.*");
  EXPECT_EQ(filter.source, "shop");
  EXPECT_EQ(filter.target, "mail");
  EXPECT_EQ(filter.error_class, "timeout");
  EXPECT_EQ(filter.fingerprint, "0123456789abcdef");
  EXPECT_EQ(filter.generation, 7);
  EXPECT_EQ(filter.workspace_id->to_string(), "00000000-0000-7000-8000-000000000001");
  EXPECT_EQ(filter.id->to_string(), "00000000-0000-7000-8000-000000000002");
  EXPECT_EQ(filter.ordering_key, "order-9");
  EXPECT_EQ(filter.since, kNow - std::chrono::hours{2});
  EXPECT_EQ(filter.until, kNow - std::chrono::minutes{30});
  EXPECT_EQ(filter.text, "connection refused");
  EXPECT_EQ(filter.status, Status::failed);
}

TEST(EventQuery, NothingMatchesEverything) {
  EXPECT_TRUE(EventQuery::parse("  \t\n")->empty());
  const auto filter = filter_of("");
  EXPECT_EQ(filter.event_type, "");
  EXPECT_FALSE(filter.since);
}

TEST(EventQuery, AColonInTheValueBelongsToTheValue) {
  EXPECT_EQ(filter_of("text:Error:boom").text, "Error:boom");
  EXPECT_EQ(filter_of(R"(text:"say \"no\" to C:\\temp")").text, R"(say "no" to C:\temp)");
}

TEST(EventQuery, WritesTheSameFilterAgainInOneOrder) {
  const auto query = EventQuery::parse(R"(text:"a \"b\" \\c"   type:x.y  since:2h)");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text(), R"(type:x.y since:2h text:"a \"b\" \\c")");
  EXPECT_EQ(EventQuery::parse(query->text())->text(), query->text());
}

TEST(EventQuery, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(complaint("timeout"), HasSubstr("`timeout` is no filter"));
  EXPECT_THAT(complaint("tpye:a"), HasSubstr("unknown filter key `tpye`"));
  EXPECT_THAT(complaint("type:a type:b"), HasSubstr("type twice"));
  EXPECT_THAT(complaint("type: class:x"), HasSubstr("type: the value is missing"));
  EXPECT_THAT(complaint("text:\"open"), HasSubstr("closing quote"));
  EXPECT_THAT(complaint("gen:zero"), HasSubstr("gen: `zero`"));
  EXPECT_THAT(complaint("id:42"), HasSubstr("id: `42`"));
  EXPECT_THAT(complaint("workspace:42"), HasSubstr("workspace: `42`"));
  EXPECT_THAT(complaint("since:yesterday"), HasSubstr("since: `yesterday`"));
  EXPECT_THAT(complaint("until:never"), HasSubstr("until: `never`"));
  EXPECT_THAT(complaint("status:dead"), HasSubstr("status: `dead`"));
  EXPECT_THAT(complaint("since:1h until:2h"), HasSubstr("since must be before until"));
}

TEST(EventQuery, ReadsValuesOfThePayload) {
  const auto filter = filter_of(R"(data.order.id:4711 data.note:"4711" data.at:10:30 data.b:"" since:1h)");
  EXPECT_EQ(
      filter.payload,
      (std::vector<PayloadTerm>{
          {{"at"}, "10:30", false}, {{"b"}, "", true}, {{"note"}, "4711", true}, {{"order", "id"}, "4711", false}}));
  EXPECT_THAT(complaint("data.:1"), HasSubstr("name a field of the payload"));
  EXPECT_THAT(complaint("data.a..b:1"), HasSubstr("name a field of the payload"));
  EXPECT_THAT(complaint("data:1"), HasSubstr("unknown filter key `data`"));
  EXPECT_THAT(complaint("data.a:1 data.a:2"), HasSubstr("data.a twice"));
  EXPECT_THAT(complaint("data.a:"), HasSubstr("data.a: the value is missing"));
}

TEST(EventQuery, APartOfThePathInQuotesMayHoldAnything) {
  const auto path = [](std::string_view text) { return filter_of(text).payload.at(0).path; };
  EXPECT_EQ(path(R"(data."a.b".c:1)"), (std::vector<std::string>{"a.b", "c"}));
  EXPECT_EQ(path(R"(data."e:f":3)"), (std::vector<std::string>{"e:f"}));
  EXPECT_EQ(path(R"(data.a."c d":x since:1h)"), (std::vector<std::string>{"a", "c d"}));
  EXPECT_EQ(path(R"(data."say \"no\" to C:\\temp":"x")"), (std::vector<std::string>{R"(say "no" to C:\temp)"}));
  EXPECT_EQ(path(R"(data."":1)"), (std::vector<std::string>{""}));
  EXPECT_EQ(path(R"(data.a"b":1)"), (std::vector<std::string>{R"(a"b")"})) << "quotes open where a part begins";
}

TEST(EventQuery, QuotesOfAPathThatDoNotCloseAreNamed) {
  EXPECT_THAT(complaint(R"(data."a b:1)"), HasSubstr(R"(data."a b:1: the closing quote is missing)"));
  EXPECT_THAT(complaint(R"(data."a\":1)"), HasSubstr("the closing quote is missing"));
  EXPECT_THAT(complaint(R"(data."a"b:1)"), HasSubstr(R"(data."a"b: name a field of the payload)"));
  EXPECT_THAT(complaint(R"(data."a".:1)"), HasSubstr("name a field of the payload"));
  EXPECT_THAT(complaint(R"(data."a b")"), HasSubstr(R"(`data."a b"` is no filter)"));
  EXPECT_THAT(complaint(R"(type."a b":1)"), HasSubstr(R"(`type."a` is no filter)"));
}

TEST(EventQuery, APathIsWrittenInOneWay) {
  EXPECT_EQ(EventQuery::parse(R"(data."a":1 data."b c"."d":2)")->text(), R"(data."b c".d:2 data.a:1)");
  EXPECT_THAT(complaint(R"(data."a":1 data.a:2)"), HasSubstr("data.a twice"));
  EXPECT_TRUE(EventQuery::parse("data.x:1")->has("data.x"));
  for (const std::string name :
       {"", ".", "a.b", ":", " ", "\t", "\r\n", "\"", "\\", "\\\"", "a\"", "\"a", "é", "plain"}) {
    const PayloadTerm term{{"a", name, name}, "1"};
    const auto query = EventQuery::parse(name_of(term) + ":1 since:1h");
    ASSERT_TRUE(query) << name;
    EXPECT_EQ(query->filter(kNow)->payload, std::vector{term}) << name;
    EXPECT_EQ(query->text(), "since:1h " + name_of(term) + ":1");
    EXPECT_EQ(EventQuery::parse(query->text())->text(), query->text());
  }
}

TEST(EventQuery, QuotesOfThePayloadAreKept) {
  const auto query = EventQuery::parse(R"(data.b:"7" data.a:7 type:"x.y")");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text(), R"(type:x.y data.a:7 data.b:"7")");
}

TEST(EventQuery, ReadsATraceId) {
  EXPECT_EQ(filter_of("trace:0AF7651916cd43dd8448eb211c80319c since:1h").trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_THAT(complaint("trace:0af7"), HasSubstr("32 hexadecimal digits"));
  EXPECT_THAT(complaint("trace:zzf7651916cd43dd8448eb211c80319c"), HasSubstr("32 hexadecimal digits"));
}

TEST(EventQuery, AFlagThatRepeatsAWordIsNamed) {
  auto query = EventQuery::parse("type:a");
  ASSERT_TRUE(query);
  const auto added = query->add("type", "b", "--type");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().field, "--type");
}

TEST(EventQuery, AFlagWithABadValueIsNamed) {
  EventQuery query;
  ASSERT_TRUE(query.add("since", "yesterday", "--since"));
  const auto filter = query.filter(kNow);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().field, "--since");
  EXPECT_THAT(filter.error().message, HasSubstr("--since: `yesterday`"));
}

}  // namespace
}  // namespace sluice::ops
