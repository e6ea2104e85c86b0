// Who may talk to NATS: client certificates and the credentials files of nsc, right ones and wrong ones, each with one
// clear sentence. Who they are is made by tests/support/nats_identity.py.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/broker/broker_fixture.hpp"

namespace sluice::test {
namespace {

using broker::BrokerOptions;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Made once for all tests of this program that ask.
class NatsIdentity : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<TempDir>();
    const std::string command =
        "python3 " SLUICE_SOURCE_DIR "/tests/support/nats_identity.py " + made_->path().string();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static void TearDownTestSuite() { made_.reset(); }

  static std::string file(const std::string& name) { return made_->file(name); }
  static std::string text_of(const std::string& name) {
    std::ifstream in{file(name)};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  /// A server with this certificate that trusts clients whom ca.pem vouches for.
  static std::string tls(const std::string& certificate, const std::string& verify) {
    return "tls { cert_file: \"" + file(certificate + ".pem") + "\", key_file: \"" + file(certificate + ".key") +
           "\", ca_file: \"" + file("ca.pem") + "\", " + verify + " }";
  }
  static BrokerOptions client_of(const NatsServer& server, const std::string& certificate = "") {
    BrokerOptions options{.urls = {"tls://127.0.0.1:" + std::to_string(server.port())}, .tls_ca = file("ca.pem")};
    if (!certificate.empty()) {
      options.tls_cert = file(certificate + ".pem");
      options.tls_key = file(certificate + ".key");
    }
    return options;
  }
  static Error refusal(const BrokerOptions& options) {
    const auto made = opened(options)->ensure({});
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  }
  /// What an operator reads, and that events wait.
  static void expect_refusal(const BrokerOptions& options, const testing::Matcher<std::string>& sentence) {
    const Error error = refusal(options);
    EXPECT_EQ(error.retry, Retry::safe) << "an operator can mend it while events wait";
    EXPECT_THAT(error.message + "; " + error.hint, sentence);
  }

 private:
  static inline std::unique_ptr<TempDir> made_;
};

TEST_F(NatsIdentity, AClientCertificateThatTheServerTrustsIsTaken) {
  const NatsServer server{tls("server", "verify: true")};
  const auto broker = opened(client_of(server, "client"));
  const auto made = broker->ensure({});
  ASSERT_TRUE(made) << made.error().message;
  const auto outcomes = broker->publish(std::vector<broker::OutgoingMessage>{{"sluice.3.a", "id-1", {}, "{}"}}, 5s, {});
  EXPECT_TRUE(outcomes[0]);
}

TEST_F(NatsIdentity, AServerThatWantsAClientCertificateIsSaidToWantOne) {
  const NatsServer server{tls("server", "verify: true")};
  expect_refusal(client_of(server),
                 AllOf(HasSubstr("it seems to want a client certificate"), HasSubstr("give tls_cert")));
}

TEST_F(NatsIdentity, AClientCertificateOfAnotherAuthorityIsRefused) {
  const NatsServer server{tls("server", "verify: true")};
  expect_refusal(
      client_of(server, "stranger"),
      AllOf(HasSubstr("it seems to refuse the client certificate " + file("stranger.pem")), HasSubstr("authority")));
}

TEST_F(NatsIdentity, ACertificateCanBeTheUser) {
  const NatsServer server{tls("server", "verify_and_map: true") +
                          "\nauthorization { users: [ { user: \"app@example.com\" } ] }"};
  EXPECT_TRUE(opened(client_of(server, "client"))->ensure({}));
  const NatsServer other{tls("server", "verify_and_map: true") +
                         "\nauthorization { users: [ { user: \"boss@example.com\" } ] }"};
  const Error error = refusal(client_of(other, "client"));
  EXPECT_EQ(error.code, ErrorCode::forbidden);
  EXPECT_THAT(error.hint, HasSubstr("client certificate"));
}

TEST_F(NatsIdentity, AFileThatIsOfNoUseIsNamed) {
  BrokerOptions options{.urls = {"tls://127.0.0.1:1"}, .tls_ca = "/nowhere/ca.pem"};
  expect_refusal(options, HasSubstr("cannot use tls_ca /nowhere/ca.pem: no such file"));
  options.tls_ca = file("client.key");
  expect_refusal(options, HasSubstr("cannot use tls_ca " + file("client.key")));
  options.tls_ca = file("ca.pem");
  options.tls_cert = "/nowhere/client.pem";
  options.tls_key = file("client.key");
  expect_refusal(options, HasSubstr("cannot use tls_cert /nowhere/client.pem: no such file"));
  options.tls_cert = file("client.pem");
  options.tls_key = "/nowhere/client.key";
  expect_refusal(options, HasSubstr("cannot use tls_key /nowhere/client.key: no such file"));
  options.tls_key = file("stranger.key");
  expect_refusal(options, AllOf(HasSubstr("cannot use tls_cert " + file("client.pem") + " with tls_key"),
                                Not(HasSubstr("is nats-server running"))));
}

TEST_F(NatsIdentity, ACertificateThatWasRenewedIsUsedWithTheNextConnection) {
  NatsServer server{tls("server", "verify: true")};
  const TempDir folder;
  BrokerOptions options = client_of(server);
  options.tls_cert = folder.file("app.pem");
  options.tls_key = folder.file("app.key");
  const auto broker = opened(options);
  EXPECT_THAT(broker->ensure({}).error().message, HasSubstr("cannot use tls_cert " + folder.file("app.pem")));
  std::filesystem::copy(file("client.pem"), folder.file("app.pem"));
  std::filesystem::copy(file("client.key"), folder.file("app.key"));
  auto made = broker->ensure({});
  while (!made) made = broker->ensure({});
  EXPECT_TRUE(made);
}

TEST_F(NatsIdentity, TheServerMustHaveTheNameOfTheUrlUnlessAnotherIsGiven) {
  const NatsServer server{tls("named", "verify: false")};
  BrokerOptions options = client_of(server);
  expect_refusal(options, AllOf(HasSubstr("certificate"), HasSubstr("tls_server_name")));
  options.tls_server_name = "bus.example.com";
  EXPECT_TRUE(opened(options)->ensure({}));
  const NatsServer with_address{tls("server", "verify: false")};
  EXPECT_TRUE(opened(client_of(with_address))->ensure({})) << "its certificate has the address";
}

TEST_F(NatsIdentity, AServerThatIsNotVouchedForIsRefused) {
  const NatsServer server{tls("server", "verify: false")};
  BrokerOptions options = client_of(server);
  options.tls_ca = file("elsewhere.pem");
  expect_refusal(options, AllOf(HasSubstr("certificate"), HasSubstr("tls_ca")));
}

TEST_F(NatsIdentity, AServerWithoutTlsIsSaid) {
  const NatsServer server;
  expect_refusal(client_of(server), AllOf(HasSubstr("TLS"), HasSubstr("nats://")));
}

TEST_F(NatsIdentity, ACredentialsFileLogsIn) {
  const NatsServer server{text_of("operator.conf")};
  const auto broker = opened({.urls = {server.url()}, .credentials_file = file("app.creds")});
  const auto made = broker->ensure({});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(broker->publish(std::vector<broker::OutgoingMessage>{{"sluice.3.a", "id-1", {}, "{}"}}, 5s, {})[0]);
}

TEST_F(NatsIdentity, CredentialsThatAreNotValidAreRefused) {
  const NatsServer server{text_of("operator.conf")};
  for (const std::string name : {"", "torn.creds", "late.creds"}) {
    BrokerOptions options{.urls = {server.url()}};
    if (!name.empty()) options.credentials_file = file(name);
    const Error error = refusal(options);
    EXPECT_EQ(error.code, ErrorCode::forbidden) << name << ": " << error.message;
    EXPECT_EQ(error.retry, Retry::safe);
    EXPECT_THAT(error.message, HasSubstr("refuses these credentials"));
  }
}

TEST_F(NatsIdentity, ACredentialsFileThatIsOfNoUseIsNamed) {
  const NatsServer server{text_of("operator.conf")};
  const auto with = [&](const std::string& path) {
    return BrokerOptions{.urls = {server.url()}, .credentials_file = path};
  };
  expect_refusal(with("/nowhere/app.creds"), HasSubstr("cannot use the credentials file /nowhere/app.creds: no such"));
  expect_refusal(with(file("empty.creds")), AllOf(HasSubstr("cannot use the credentials file " + file("empty.creds")),
                                                  Not(HasSubstr("is nats-server running"))));
}

TEST_F(NatsIdentity, AnAccountWithoutJetStreamIsSaid) {
  const NatsServer server{text_of("operator.conf")};
  const Error error = refusal({.urls = {server.url()}, .credentials_file = file("plain.creds")});
  EXPECT_THAT(error.hint, HasSubstr("turn JetStream on for this account")) << error.message;
}

TEST_F(NatsIdentity, ThereIsOneWayToLogIn) {
  const auto both = broker::open_broker({.urls = {"nats://a"}, .user = "app", .credentials_file = "/app.creds"});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().field, "credentials_file");
  EXPECT_EQ(broker::open_broker({.urls = {"nats://a"}, .user = "app", .token = "hush"}).error().field, "token");
}

}  // namespace
}  // namespace sluice::test
