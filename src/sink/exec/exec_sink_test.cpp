// Real programs: what a sink promises about them is about the operating system.
#include "sink/exec/exec_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stop_token>
#include <thread>

#include "tests/support/recording_tracer.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::sink {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSpanOfTheRun = "00-0af7651916cd43dd8448eb211c80319c-00000000000000aa-01";

EventEnvelope input_event(std::string payload = "{}") {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "demo.hello";
  draft.source = "demo";
  draft.payload = std::move(payload);
  return EventEnvelope::trusted(draft);
}

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class ExecSinkTest : public testing::Test {
 protected:
  Verdict run(std::vector<std::string> command, Duration timeout = 30s, const EventEnvelope& one = input_event()) {
    const auto sink = open_exec_sink({.name = "run", .command = std::move(command), .timeout = timeout});
    return sink->deliver({&one, 1}, {"tests.run", 1, {2}, stop.get_token()}).at(0);
  }
  Verdict shell(const std::string& script, Duration timeout = 30s) { return run({"/bin/sh", "-c", script}, timeout); }

  test::TempDir folder;
  std::stop_source stop;
};

TEST_F(ExecSinkTest, TheProgramReadsTheEnvelope) {
  const EventEnvelope large = input_event("{\"text\":\"" + std::string(200'000, 'x') + "\"}");
  const std::string path = folder.file("out");
  EXPECT_EQ(run({"/bin/sh", "-c", "cat > " + path}, 30s, large).kind, Verdict::Kind::handled);
  EXPECT_EQ(content_of(path), large.to_json());
}

TEST_F(ExecSinkTest, AProgramThatReadsNothingIsFine) {
  EXPECT_EQ(run({"/bin/true"}, 30s, input_event("{\"text\":\"" + std::string(200'000, 'x') + "\"}")).kind,
            Verdict::Kind::handled);
}

TEST_F(ExecSinkTest, StatusesSayWhetherToTryAgain) {
  const Verdict terminal = shell("echo 'no such account' >&2; exit 65");
  EXPECT_EQ(terminal.error_class, "exit_65");
  EXPECT_TRUE(terminal.terminal);
  EXPECT_EQ(terminal.message, "/bin/sh exited with status 65: no such account");
  for (const int code : {1, 75}) {
    const Verdict verdict = shell("exit " + std::to_string(code));
    EXPECT_EQ(verdict.error_class, "exit_" + std::to_string(code));
    EXPECT_FALSE(verdict.terminal);
  }
  EXPECT_EQ(shell("kill -TERM $$").error_class, "signal_15");
}

TEST_F(ExecSinkTest, ATimeoutKillsEverythingThatItStarted) {
  const std::string path = folder.file("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int held = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  const Verdict verdict = shell("exec 3> " + path + "; sleep 300 & sleep 300", 500ms);
  EXPECT_EQ(verdict.error_class, "timeout");
  EXPECT_FALSE(verdict.terminal);
  // The end comes when the last of them is gone that held the other side open.
  ASSERT_EQ(::fcntl(held, F_SETFL, 0), 0);
  char nothing = 0;
  EXPECT_EQ(::read(held, &nothing, 1), 0);
  ::close(held);
}

TEST_F(ExecSinkTest, WhatItLeavesBehindDoesNotKeepTheDeliveryWaiting) {
  EXPECT_EQ(shell("sleep 300 & exit 0").kind, Verdict::Kind::handled);
}

TEST_F(ExecSinkTest, AStopEndsIt) {
  stop.request_stop();
  EXPECT_EQ(shell("exit 0").kind, Verdict::Kind::deferred) << "it has not begun";
  stop = {};
  const std::string path = folder.file("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::jthread stopper{[&] {
    content_of(path);  // until the program has opened it
    stop.request_stop();
  }};
  EXPECT_EQ(shell("echo ready > " + path + "; sleep 300").kind, Verdict::Kind::stopped);
}

TEST_F(ExecSinkTest, ItGetsOnlyItsOwnEnvironmentAndDescriptors) {
  const std::string path = folder.file("env");
  ASSERT_EQ(::setenv("SLUICE_TEST_SECRET", "hush", 1), 0);
  const std::ifstream kept_open{"/etc/passwd"};
  EXPECT_EQ(shell("env > " + path + "; ls /proc/self/fd >> " + path + "; pwd >> " + path).kind, Verdict::Kind::handled);
  EXPECT_THAT(content_of(path),
              AllOf(HasSubstr("SLUICE_EVENT_TYPE=demo.hello"), HasSubstr("SLUICE_ATTEMPTS=2"),
                    HasSubstr("SLUICE_HANDLER_NAME=tests.run"), Not(HasSubstr("hush")), HasSubstr("\n0\n1\n2\n3\n/\n")))
      << "3 is the folder that ls itself opened";
}

TEST_F(ExecSinkTest, AProgramIsASpanOfItsRunAndFindsItInItsEnvironment) {
  test::RecordingTracer tracer;
  const std::string path = folder.file("env");
  const EventEnvelope event = input_event();
  Delivery delivery{"tests.run", 1, {0}, {}};
  delivery.traceparents = {kSpanOfTheRun};
  const std::vector<std::string> command{"/bin/sh", "-c", "echo $TRACEPARENT > " + path + "; exit 75"};
  open_exec_sink({.name = "run", .command = command, .tracer = &tracer})->deliver({&event, 1}, delivery);
  const auto spans = tracer.spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "sh");
  EXPECT_EQ(spans[0].kind, SpanKind::client);
  EXPECT_EQ(spans[0].parent, kSpanOfTheRun);
  EXPECT_THAT(spans[0].attributes, testing::UnorderedElementsAre(testing::Pair("process.executable.name", "sh"),
                                                                 testing::Pair("process.executable.path", "/bin/sh"),
                                                                 testing::Pair("process.exit.code", "75"),
                                                                 testing::Pair("sluice.sink", "run")));
  EXPECT_EQ(spans[0].error_type, "exit_75");
  EXPECT_EQ(content_of(path), spans[0].traceparent + "\n");
}

TEST_F(ExecSinkTest, WithoutATracerTheProgramFindsTheTraceOfTheEvent) {
  const std::string path = folder.file("env");
  const std::vector<std::string> command{"/bin/sh", "-c", "env > " + path};
  run(command, 30s, input_event().with_trace_context(kSpanOfTheRun));
  EXPECT_THAT(content_of(path), HasSubstr("TRACEPARENT=" + std::string{kSpanOfTheRun} + "\n"));
  run(command, 30s, input_event());
  EXPECT_THAT(content_of(path), Not(HasSubstr("TRACEPARENT")));
}

TEST_F(ExecSinkTest, LongOutputIsReadAndCut) {
  const Verdict verdict = shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; head -c 1000000 /dev/zero; exit 1");
  EXPECT_EQ(verdict.error_class, "exit_1");
  EXPECT_LT(verdict.message.size(), 1000U);
}

TEST_F(ExecSinkTest, AMissingProgramIsTriedAgain) {
  const Verdict verdict = run({"/no/such/program"});
  EXPECT_EQ(verdict.error_class, "not_started");
  EXPECT_THAT(verdict.message, AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
  EXPECT_FALSE(verdict.terminal);
}

TEST_F(ExecSinkTest, ABatchKeepsItsOrder) {
  const auto sink = open_exec_sink({.name = "run", .command = {"/bin/sh", "-c", "exit $SLUICE_ATTEMPTS"}});
  std::vector<EventEnvelope> events(9, input_event());
  const auto verdicts = sink->deliver(events, {"tests.run", 1, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {}});
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::handled);
  for (std::size_t i = 1; i < verdicts.size(); ++i) EXPECT_EQ(verdicts[i].error_class, "exit_" + std::to_string(i));
  EXPECT_EQ(sink->status().failed, 8);
}

}  // namespace
}  // namespace sluice::sink
