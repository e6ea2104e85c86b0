// What the tests of the pull API share: a claims on a real store, which the test steps by hand.
#pragma once

#include <deque>
#include <optional>

#include "runtime/pull_claims.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/recording_tracer.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {

class PullFixture : public testing::Test {
 protected:
  using Answered = std::optional<Result<std::vector<PulledEvent>>>;

  static PullQuestion a_question(const std::string& handler = "billing.mailer", Duration wait = {}) {
    PullQuestion question;
    question.subscription.handler_name = handler;
    question.worker = "w1";
    question.wait = wait;
    return question;
  }
  /// The answer, once there is one.
  const Answered& ask(PullQuestion question) {
    Answered& answer = answers.emplace_back();
    claims.ask(std::move(question), [&answer](Result<std::vector<PulledEvent>> given) {
      EXPECT_FALSE(answer) << "answered twice";
      answer = std::move(given);
    });
    return answer;
  }
  /// Asks without waiting.
  std::vector<PulledEvent> pull(PullQuestion question = a_question()) {
    const Answered& answer = ask(std::move(question));
    claims.step();
    if (!answer || !*answer) throw std::runtime_error(answer ? answer->error().message : "no answer");
    return **answer;
  }
  PullToken token_of(const PulledEvent& event) { return *parse_pull_token(event.token, *store->token_secret()); }
  PullVerdict settle(const PulledEvent& event, const Outcome& outcome) {
    auto verdicts = settling.settle(std::vector<PullSettlement>{{token_of(event), outcome}});
    if (!verdicts) throw std::runtime_error(verdicts.error().message);
    return verdicts->at(0);
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  test::FaultyStore faulty{*store};
  std::vector<FailureNotice> failures;
  test::RecordingTracer tracer;
  PullPresence presence{faulty, kFirstGeneration};
  PullSettling settling{faulty,
                        presence,
                        {},
                        {[](const std::string&) { return without_jitter(); },
                         [] { return 0.5; },
                         [this](FailureNotice notice) { failures.push_back(std::move(notice)); },
                         nullptr,
                         false,
                         {},
                         &tracer}};
  std::deque<Answered> answers;  // before the claims, which gives some of them at its end
  telemetry::Registry metric_registry;
  telemetry::MetricSet metrics{metric_registry};
  PullClaims claims{faulty, settling, presence, {.metrics = &metrics, .tracer = &tracer}};
};

}  // namespace sluice::runtime
