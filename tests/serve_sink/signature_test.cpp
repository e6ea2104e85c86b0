// Signatures as the library that receivers use sees them.
#include "crypto/digest.hpp"
#include "sink/switched_sink.hpp"
#include "tests/serve_sink/sink_fixture.hpp"
#include "tests/support/node_script.hpp"

namespace sluice::test {
namespace {

using testing::StartsWith;

const std::string kNew = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string kOld = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

std::string bytes_of(const std::string& secret) { return *crypto::from_base64(secret.substr(6)); }

/// The npm package `standardwebhooks`.
class Verifier {
 public:
  Verifier() : process_({"/usr/bin/env", "node", node_script(directory_, "tests/serve_sink/verify.mjs")}) {}

  std::string operator()(const std::string& secret, const std::string& headers, const std::string& body) {
    process_.write("{\"secret\":" + json::quote(secret) + ",\"headers\":" + headers + ",\"body\":" + json::quote(body) +
                   "}\n");
    return process_.read_line();
  }

 private:
  TempDir directory_;
  Child process_;
};

TEST_F(HttpSinkTest, EveryFormatVerifiesWithEitherSecret) {
  Receiver receiver;
  Verifier verify;
  using sink::BodyFormat;
  for (const BodyFormat format :
       {BodyFormat::envelope, BodyFormat::cloudevents_binary, BodyFormat::cloudevents_structured}) {
    auto options = local(receiver);
    options.request = {format, {bytes_of(kNew), bytes_of(kOld)}};
    EXPECT_EQ(deliver_one(options).kind, Verdict::Kind::handled);
    const std::string request = receiver.next();
    const std::string headers = member(request, "headers");
    const std::string body = member(request, "body");
    EXPECT_EQ(verify(kNew, headers, body), "verified");
    EXPECT_EQ(verify(kOld, headers, body), "verified");
    EXPECT_THAT(verify(kNew, headers, body + " "), StartsWith("refused"));
    EXPECT_THAT(verify("whsec_" + crypto::to_base64(std::string(24, 'x')), headers, body), StartsWith("refused"));
  }
}

TEST_F(HttpSinkTest, CloudEventsArriveInEitherForm) {
  Receiver receiver;
  auto options = local(receiver);
  options.request.format = sink::BodyFormat::cloudevents_binary;
  deliver_one(options);
  const std::string binary = receiver.next();
  EXPECT_EQ(member(binary, "body"), numbered_event(0).payload());
  EXPECT_EQ(member(member(binary, "headers"), "ce-type"), "invoice.paid");
  EXPECT_EQ(member(member(binary, "headers"), "ce-id"), numbered_event(0).event_id().to_string());
  EXPECT_EQ(member(member(binary, "headers"), "content-type"), "application/json");
  options.request.format = sink::BodyFormat::cloudevents_structured;
  deliver_one(options);
  const std::string structured = receiver.next();
  EXPECT_EQ(member(member(structured, "headers"), "content-type"), "application/cloudevents+json");
  EXPECT_EQ(member(member(structured, "body"), "type"), "invoice.paid");
  EXPECT_EQ(member(member(structured, "body"), "data"), numbered_event(0).payload());
}

TEST_F(HttpSinkTest, ASignatureThatBecameOldWhileWaitingIsMadeAnew) {
  Receiver receiver;
  auto options = local(receiver);
  options.request.keys = {bytes_of(kNew)};
  // Between the making of the request and its turn, ten minutes pass.
  std::atomic<int> asked = 0;
  options.clock = [&asked] { return host::wall_clock() - (asked++ == 0 ? 10min : 0min); };
  EXPECT_EQ(deliver_one(options).kind, Verdict::Kind::handled);
  const std::string request = receiver.next();
  EXPECT_EQ(Verifier{}(kNew, member(request, "headers"), member(request, "body")), "verified");
}

}  // namespace
}  // namespace sluice::test
