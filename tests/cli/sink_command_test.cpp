#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class SinkCommand : public testing::Test {
 protected:
  SinkCommand() {
    const std::vector<store::SinkDeclaration> sinks{{"shop", "http", "https://shop.example/***", {"shop.invoices"}}};
    test::must(sluice_.store->declare_sinks(sinks));
  }
  test::CommandLine sluice_;
};

TEST_F(SinkCommand, ListsThemWithTheirState) {
  const auto answer = sluice_({"sink", "list"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("SINK"), HasSubstr("shop"), HasSubstr("active"), HasSubstr("shop.invoices")));
  EXPECT_THAT(sluice_({"sink", "list", "-o", "ndjson"}).out, StartsWith(R"({"name":"shop","kind":"http")"));
}

TEST_F(SinkCommand, SaysWhereSinksComeFromWhenThereIsNone) {
  test::CommandLine empty;
  const auto answer = empty({"sink", "list"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, IsEmpty());
  EXPECT_THAT(answer.err, HasSubstr("a daemon declares"));
  EXPECT_EQ(empty({"sink", "list", "-o", "json"}).out, "{\"sinks\":[]}\n");
}

TEST_F(SinkCommand, PausesAndResumesWithAReason) {
  const auto mute = sluice_({"sink", "pause", "shop"});
  EXPECT_EQ(mute.exit, Exit::usage);
  EXPECT_THAT(mute.err, HasSubstr("--reason"));
  EXPECT_EQ(sluice_({"sink", "pause", "shop", "--dry-run"}).exit, Exit::ok);
  EXPECT_THAT(sluice_({"sink", "list", "-o", "json"}).out, HasSubstr(R"("state":"active")"));

  const auto paused = sluice_({"sink", "pause", "shop", "--reason", "migrating"});
  EXPECT_EQ(paused.exit, Exit::ok) << paused.err;
  const auto shown = sluice_({"sink", "show", "shop"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("paused"), HasSubstr("alice@box"), HasSubstr("migrating")));
  EXPECT_THAT(shown.err, HasSubstr("sluice sink resume shop"));
  EXPECT_THAT(sluice_({"status"}).out, HasSubstr("sink shop is paused by alice@box"));
  EXPECT_THAT(sluice_({"audit", "list", "--action", "sink.*"}).out,
              AllOf(HasSubstr("sink.pause"), HasSubstr("migrating")));

  EXPECT_EQ(sluice_({"sink", "resume", "shop", "--reason", "done"}).exit, Exit::ok);
  EXPECT_THAT(sluice_({"sink", "show", "shop", "-o", "json"}).out, HasSubstr(R"("state":"active")"));
}

TEST_F(SinkCommand, AnUnknownSinkIsNotFound) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"sink", "show", "till"},
                                                                 {"sink", "pause", "till", "--reason", "x"},
                                                                 {"sink", "resume", "till", "--reason", "x"},
                                                                 {"sink", "test", "till"}}) {
    const auto answer = sluice_(words);
    EXPECT_EQ(answer.exit, Exit::not_found) << words[1];
    EXPECT_THAT(answer.err, HasSubstr("till"));
  }
}

TEST_F(SinkCommand, ATrialSaysWhatTheReceiverSaid) {
  sluice_.trial = [](const std::string& name) {
    return ops::Trial{name == "shop", name == "shop" ? "200" : "http_503", "said \x1b[31mred",
                      std::chrono::milliseconds{12}};
  };
  const auto good = sluice_({"sink", "test", "shop"});
  EXPECT_EQ(good.exit, Exit::ok);
  EXPECT_THAT(good.out, AllOf(StartsWith("ok 200 after 12ms: said "), Not(HasSubstr("\x1b"))));
  const auto bad = sluice_({"sink", "test", "till", "-o", "json"});
  EXPECT_EQ(bad.exit, Exit::failed);
  EXPECT_THAT(bad.out, HasSubstr(R"("ok":false,"status":"http_503")"));
}

}  // namespace
}  // namespace sluice::cli
