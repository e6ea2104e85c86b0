// A change is the same use case on every surface: the same bad input gets the same refusal from the command line, from
// HTTP and from MCP, and what is carried out leaves the same audit record. Only the names of fields differ: `--reason`
// is `reason` there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json.hpp"
#include "http/router.hpp"
#include "http/routes.hpp"
#include "mcp/toolbox.hpp"
#include "ops/operations.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;

const store::Actor kAlice{"alice", "cli", "test"};

std::string text_in(std::string_view object, std::string_view name) {
  const auto members = json::members(object, "object");
  if (!members) return "(no object)";
  for (const auto& [member, value] : *members) {
    if (member != name) continue;
    const auto text = json::string_value(value, name);
    return text ? *text : "(no text)";
  }
  return "";
}

/// What a surface refused, with the names that the use cases have for the fields.
struct Refusal {
  std::string code;
  std::string field;
  std::string message;

  bool operator==(const Refusal&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
  return out << refusal.code << " of " << refusal.field << ": " << refusal.message;
}

std::string plain_name(const std::string& field) {
  std::string name = field.starts_with("--") ? field.substr(2) : field;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(c));
  if (name == "plan" || name == "operation_id") return "token";
  if (name == "confirm_count") return "count";
  return name;
}

Refusal refusal(std::string code, const std::string& field, std::string message) {
  std::string name = plain_name(field);
  if (!field.empty() && message.starts_with(field)) message.replace(0, field.size(), name);
  return {std::move(code), std::move(name), std::move(message)};
}

struct Post {
  std::string path;
  std::string body = "{}";
};
struct ToolCall {
  std::string tool;
  std::string arguments;
};

/// One bad input, as each surface that has the change is given it.
struct Row {
  std::string what;
  std::vector<std::string> words;
  std::optional<Post> post;
  std::optional<ToolCall> tool;
};

class SameAnswer : public testing::Test {
 protected:
  SameAnswer() {
    for (int number = 1; number <= 6; ++number) {
      command.store.publish(id_of(number));
      command.store.fail(id_of(number));
    }
    must(command.store->discard(id_of(2), kAlice));
    command.store.publish(id_of(7));
    command.store.deliver(id_of(7));
    command.store.bring_generation(5, GenerationState::live);
    command.store.bring_generation(6, GenerationState::retired);
    const store::SinkDeclaration shop{.name = "shop", .kind = "http", .target = "https://shop", .handlers = {}};
    must(command.store->declare_sinks(std::span{&shop, 1}));
    router.add(http::event_routes(context));
    router.add(http::dead_letter_routes(context));
    router.add(http::operation_routes(context));
    router.add(http::generation_routes(context));
    router.add(http::sink_routes(context));
  }

  host::Entropy entropy() {
    return {[this] { return command.store.now; }, [this] { return std::array<std::uint8_t, 10>{9, ++random_}; }};
  }
  std::string plan(OperationKind kind, const Uuid& event) {
    ops::BulkRequest request;
    request.kind = kind;
    request.event_ids = {event};
    return must(ops::plan_bulk(*command.store, request, kAlice, entropy())).operation.id.to_string();
  }

  Refusal by_command(std::vector<std::string> words) {
    words.insert(words.begin() + 2, {"-o", "json"});
    const Answer answer = command(words);
    const auto error = json::members(answer.err, "error");
    if (!error || error->empty()) return {"accepted", "", answer.out + answer.err};
    const std::string_view object = error->front().value;
    return refusal(text_in(object, "code"), text_in(object, "field"), text_in(object, "message"));
  }
  http::Response post(const Post& request) {
    const auto match = router.find("POST", request.path);
    if (match.route == nullptr) throw std::runtime_error("no route " + request.path);
    const http::Request sent{"POST", request.path, {}, {{"content-type", "application/json"}}, request.body, ""};
    return match.route->answer({sent, {http::Role::admin, "alice"}, match.path});
  }
  Refusal by_post(const Post& request) {
    const http::Response answer = post(request);
    if (answer.status < 400) return {"accepted", "", answer.body};
    return refusal(text_in(answer.body, "code"), text_in(answer.body, "field"), text_in(answer.body, "detail"));
  }
  Refusal by_tool(const ToolCall& call) {
    const auto answer = mcp::Toolbox{tools}.call({call.tool, call.arguments, "agent:test (for alice)"});
    const auto content = json::elements(json::members(*answer, "answer")->front().value, "content");
    const std::string text = text_in(content->front(), "text");
    const auto error = json::members(text, "error");
    if (!error || error->front().name != "error") return {"accepted", "", text};
    const std::string_view object = error->front().value;
    return refusal(text_in(object, "code"), text_in(object, "field"), text_in(object, "message"));
  }
  void expect_same(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.what);
      const Refusal refused = by_command(row.words);
      EXPECT_NE(refused.code, "accepted") << refused.message;
      if (row.post) {
        EXPECT_EQ(by_post(*row.post), refused);
      }
      if (row.tool) {
        EXPECT_EQ(by_tool(*row.tool), refused);
      }
    }
  }

  CommandLine command;
  http::Context context{*command.store, entropy()};
  mcp::Context tools{*command.store, entropy(), {}, mcp::Allowance{{}}, std::nullopt, {}};
  http::Router router;

 private:
  std::uint8_t random_ = 0;
};

const std::string kLong(ops::kMaxTextBytes + 1, 'x');
const std::string kOne = id_of(1).to_string();
const std::string kDiscarded = id_of(2).to_string();
const std::string kDelivered = id_of(7).to_string();
const std::string kNobody = id_of(99).to_string();
const std::string kWhy = R"({"reason":"why"})";

std::string reason_of(const std::string& text) { return R"({"reason":")" + text + R"("})"; }
std::string replay_of(const std::string& id, const std::string& reason) {
  return R"({"event_id":")" + id + R"(","reason":")" + reason + R"("})";
}

TEST_F(SameAnswer, ToAChangeOfOneEvent) {
  const std::string at = "/v1/events/" + kOne;
  expect_same({
      {"replay without a reason",
       {"dlq", "replay", kOne, "--yes"},
       Post{at + "/replay"},
       ToolCall{"replay_dlq_event", R"({"event_id":")" + kOne + R"("})"}},
      {"replay with a blank reason",
       {"dlq", "replay", kOne, "--yes", "--reason", "  "},
       Post{at + "/replay", reason_of("  ")},
       ToolCall{"replay_dlq_event", replay_of(kOne, "  ")}},
      {"replay with a novel",
       {"dlq", "replay", kOne, "--yes", "--reason", kLong},
       Post{at + "/replay", reason_of(kLong)},
       ToolCall{"replay_dlq_event", replay_of(kOne, kLong)}},
      {"replay of nothing",
       {"dlq", "replay", kNobody, "--yes", "--reason", "why"},
       Post{"/v1/events/" + kNobody + "/replay", kWhy},
       ToolCall{"replay_dlq_event", replay_of(kNobody, "why")}},
      {"replay of what is delivered",
       {"dlq", "replay", kDelivered, "--yes", "--reason", "why"},
       Post{"/v1/events/" + kDelivered + "/replay", kWhy},
       ToolCall{"replay_dlq_event", replay_of(kDelivered, "why")}},
      {"discard without a reason", {"dlq", "discard", kOne, "--yes"}, Post{at + "/discard"}, {}},
      {"discard with a blank reason",
       {"dlq", "discard", kOne, "--yes", "--reason", " "},
       Post{at + "/discard", reason_of(" ")},
       {}},
      {"discard of nothing",
       {"dlq", "discard", kNobody, "--yes", "--reason", "why"},
       Post{"/v1/events/" + kNobody + "/discard", kWhy},
       {}},
      {"discard of what is discarded",
       {"dlq", "discard", kDiscarded, "--yes", "--reason", "why"},
       Post{"/v1/events/" + kDiscarded + "/discard", kWhy},
       {}},
      {"restore without a reason",
       {"dlq", "restore", kDiscarded, "--yes"},
       Post{"/v1/events/" + kDiscarded + "/restore"},
       {}},
      {"restore of what is not discarded",
       {"dlq", "restore", kOne, "--yes", "--reason", "why"},
       Post{at + "/restore", kWhy},
       {}},
  });
}

TEST_F(SameAnswer, ToAChangeOfAnEventThatWaits) {
  // One event, a verb of each surface, and what each takes besides the reason.
  const auto row = [](const std::string& id, std::vector<std::string> words, const std::string& path,
                      const std::string& tool, const std::string& more = "") {
    words.insert(words.end(), {"--yes", "--reason", "why"});
    const std::string body = R"("reason":"why")" + more + '}';
    return Row{path + " " + id, words, Post{"/v1/events/" + id + '/' + path, '{' + body},
               ToolCall{tool, R"({"event_id":")" + id + R"(",)" + body}};
  };
  expect_same({
      {"run now without a reason",
       {"event", "run-now", kOne, "--yes"},
       Post{"/v1/events/" + kOne + "/run-now"},
       ToolCall{"run_event_now", R"({"event_id":")" + kOne + R"("})"}},
      row(kOne, {"event", "run-now", kOne}, "run-now", "run_event_now"),
      row(kOne, {"event", "cancel", kOne}, "cancel", "cancel_event"),
      row(kNobody, {"event", "cancel", kNobody}, "cancel", "cancel_event"),
      row(kOne, {"event", "reschedule", kOne, "--at", "soon"}, "reschedule", "reschedule_event", R"(,"at":"soon")"),
      row(kOne, {"event", "resend", kOne, "--handler", "a.b"}, "resend", "resend_event", R"(,"handler":"a.b")"),
      row(kDelivered, {"event", "resend", kDelivered, "--handler", "a.b"}, "resend", "resend_event",
          R"(,"handler":"a.b")"),
      row(kOne, {"dlq", "replay", kOne, "--handler", "a.b"}, "replay", "replay_dlq_event", R"(,"handler":"a.b")"),
      row(kOne, {"dlq", "replay", kOne, "--data", "{}"}, "edit-replay", "edit_and_replay_event", R"(,"payload":{})"),
  });
}

TEST_F(SameAnswer, ToAnOperation) {
  const std::string replay = plan(OperationKind::replay, id_of(1));
  const std::string discard = plan(OperationKind::discard, id_of(3));
  const auto start = [](const std::string& token, const std::string& more) {
    return Post{"/v1/operations/" + token + "/start", R"({"count":1)" + more + "}"};
  };
  const auto execute = [](const std::string& token, const std::string& more) {
    return ToolCall{"execute_replay_plan", R"({"confirm_count":1,"token":")" + token + '"' + more + "}"};
  };
  const std::string why = R"(,"reason":"why")";
  expect_same({
      {"start without a reason", {"dlq", "replay", "--plan", replay, "--yes"}, start(replay, ""), execute(replay, "")},
      {"start with a blank reason",
       {"dlq", "replay", "--plan", replay, "--yes", "--reason", " "},
       start(replay, R"(,"reason":" ")"),
       execute(replay, R"(,"reason":" ")")},
      {"start of nothing",
       {"dlq", "replay", "--plan", kNobody, "--yes", "--reason", "why"},
       start(kNobody, why),
       execute(kNobody, why)},
      {"start of a discard as a replay",
       {"dlq", "replay", "--plan", discard, "--yes", "--reason", "why"},
       {},
       execute(discard, why)},
      {"a negative rate",
       {"dlq", "replay", "--plan", replay, "--yes", "--reason", "why", "--rate=-1"},
       start(replay, why + R"(,"rate":-1)"),
       {}},
      {"too high a rate",
       {"dlq", "replay", "--plan", replay, "--yes", "--reason", "why", "--rate", "1000001"},
       start(replay, why + R"(,"rate":1000001)"),
       {}},
      {"a negative canary",
       {"dlq", "replay", "--plan", replay, "--yes", "--reason", "why", "--canary=-1"},
       start(replay, why + R"(,"canary":-1)"),
       {}},
      {"more than all",
       {"dlq", "replay", "--plan", replay, "--yes", "--reason", "why", "--stop-percent", "101"},
       start(replay, why + R"(,"stop_percent":101)"),
       {}},
      {"a plan with more than all",
       {"dlq", "plan", "--all", "--stop-percent", "101"},
       Post{"/v1/plans", R"({"all":true,"stop_percent":101})"},
       {}},
      {"a plan with a novel",
       {"dlq", "plan", "--all", "--reason", kLong},
       Post{"/v1/plans", R"({"all":true,"reason":")" + kLong + R"("})"},
       {}},
      {"pause of what does not run", {"op", "pause", replay}, Post{"/v1/operations/" + replay + "/pause"}, {}},
      {"resume of nothing", {"op", "resume", kNobody}, Post{"/v1/operations/" + kNobody + "/resume"}, {}},
      {"cancel with a novel",
       {"op", "cancel", replay, "--yes", "--reason", kLong},
       Post{"/v1/operations/" + replay + "/cancel", reason_of(kLong)},
       {}},
      {"steer to a rate that is none",
       {"op", "rate", replay, "--", "-1"},
       Post{"/v1/operations/" + replay + "/rate", R"({"rate":-1})"},
       {}},
      {"steer to too high a rate",
       {"op", "rate", replay, "1000001"},
       Post{"/v1/operations/" + replay + "/rate", R"({"rate":1000001})"},
       {}},
  });
}

TEST_F(SameAnswer, ToAnAcknowledgement) {
  const std::string at = "/v1/dlq/acknowledge";
  expect_same({
      {"no reason", {"dlq", "ack", "abcd"}, Post{at, R"({"fingerprint":"abcd"})"}, {}},
      {"no fingerprint", {"dlq", "ack", "", "--reason", "why"}, Post{at, R"({"fingerprint":"","reason":"why"})"}, {}},
      {"a fingerprint of nothing",
       {"dlq", "ack", "nothing", "--reason", "why"},
       Post{at, R"({"fingerprint":"nothing","reason":"why"})"},
       {}},
  });
}

TEST_F(SameAnswer, ToAChangeOfAGeneration) {
  const std::string at = "/v1/generations";
  expect_same({
      {"allocate what exists", {"generation", "allocate", "5"}, Post{at, R"({"generation":5})"}, {}},
      {"allocate with a novel",
       {"generation", "allocate", "--note", kLong},
       Post{at, R"({"note":")" + kLong + R"("})"},
       {}},
      {"activate nothing", {"generation", "activate", "9"}, Post{at + "/9/activate"}, {}},
      {"activate with a novel",
       {"generation", "activate", "5", "--reason", kLong},
       Post{at + "/5/activate", reason_of(kLong)},
       {}},
      {"drain what is retired", {"generation", "drain", "6"}, Post{at + "/6/drain"}, {}},
      {"retire what is live", {"generation", "retire", "5"}, Post{at + "/5/retire"}, {}},
      {"retire nothing", {"generation", "retire", "9"}, Post{at + "/9/retire"}, {}},
      {"reroute without a reason",
       {"generation", "reroute", "1", "--to", "5", "--yes"},
       Post{at + "/1/reroute", R"({"to":5})"},
       {}},
      {"reroute to itself",
       {"generation", "reroute", "5", "--to", "5", "--yes", "--reason", "why"},
       Post{at + "/5/reroute", R"({"to":5,"reason":"why"})"},
       {}},
      {"reroute to what is retired",
       {"generation", "reroute", "5", "--to", "6", "--yes", "--reason", "why"},
       Post{at + "/5/reroute", R"({"to":6,"reason":"why"})"},
       {}},
  });
}

TEST_F(SameAnswer, ToASwitchOfASink) {
  expect_same({
      {"pause without a reason", {"sink", "pause", "shop"}, Post{"/v1/sinks/shop/pause"}, {}},
      {"pause with a blank reason",
       {"sink", "pause", "shop", "--reason", " "},
       Post{"/v1/sinks/shop/pause", reason_of(" ")},
       {}},
      {"pause of nothing", {"sink", "pause", "nothing", "--reason", "why"}, Post{"/v1/sinks/nothing/pause", kWhy}, {}},
      {"resume of nothing",
       {"sink", "resume", "nothing", "--reason", "why"},
       Post{"/v1/sinks/nothing/resume", kWhy},
       {}},
  });
}

TEST_F(SameAnswer, LeavesTheSameAudit) {
  const auto audited = [this](const std::string& action) {
    return command.store.sql("select distinct action || ' ' || count || ' ' || reason from audit where action = '" +
                             action + "' and actor <> 'alice' or action = '" + action + "' and reason = 'why'");
  };
  const auto id = [](int number) { return id_of(number).to_string(); };
  ASSERT_EQ(command({"dlq", "discard", id(3), "--reason", "why", "--yes"}).exit, cli::Exit::ok);
  ASSERT_EQ(post({"/v1/events/" + id(4) + "/discard", kWhy}).status, 200);
  EXPECT_THAT(audited("discard"), ElementsAre("discard 1 why"));
  ASSERT_EQ(command({"dlq", "restore", id(3), "--reason", "why", "--yes"}).exit, cli::Exit::ok);
  ASSERT_EQ(post({"/v1/events/" + id(4) + "/restore", kWhy}).status, 200);
  EXPECT_THAT(audited("restore"), ElementsAre("restore 1 why"));
  ASSERT_EQ(command({"dlq", "replay", id(3), "--reason", "why", "--yes"}).exit, cli::Exit::ok);
  ASSERT_EQ(post({"/v1/events/" + id(4) + "/replay", kWhy}).status, 200);
  ASSERT_EQ(by_tool({"replay_dlq_event", replay_of(id(5), "why")}).code, "accepted");
  EXPECT_THAT(audited("replay"), ElementsAre("replay 1 why"));
  EXPECT_THAT(command.store.sql("select distinct surface from audit where action = 'replay' order by 1"),
              ElementsAre("cli", "http", "mcp"));
}

TEST_F(SameAnswer, DryRunOfAPlanStartsNothing) {
  const std::string token = plan(OperationKind::replay, id_of(1));
  EXPECT_EQ(command({"dlq", "replay", "--plan", token, "--dry-run", "--yes", "--reason", "why"}).exit, cli::Exit::ok);
  const auto id = Uuid::parse(token, "token");
  EXPECT_EQ(must(ops::find_operation(*command.store, *id)).progress.state, OperationState::planned);
}

}  // namespace
}  // namespace sluice::test
