// Options: what is wrong is named, and nothing starts.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/library/public_api.hpp"

namespace sluice::test {
namespace {

using testing::HasSubstr;

void nothing(const EventEnvelope&) {}

class Options : public PublicApi {
 protected:
  void expect_refused(const ListenerOptions& options, const std::string& field) {
    const auto opened = EventListener::open(options);
    ASSERT_FALSE(opened) << field;
    EXPECT_EQ(opened.error().code, ErrorCode::invalid);
    EXPECT_EQ(opened.error().field, field) << opened.error().message;
  }
  void expect_refused(const HandlerOptions& options, const std::string& field) {
    auto open = listener();
    const auto registered = open.listen(options, nothing);
    ASSERT_FALSE(registered) << field;
    EXPECT_EQ(registered.error().code, ErrorCode::invalid);
    EXPECT_EQ(registered.error().field, field) << registered.error().message;
  }
};

TEST_F(Options, OfAListenerAreCheckedWhenItIsOpened) {
  expect_refused(ListenerOptions{}, "store");
  expect_refused(ListenerOptions{.store = "mysql://somewhere"}, "store");
  expect_refused(ListenerOptions{.store = store(), .generation = 0}, "generation");
  expect_refused(ListenerOptions{.store = store(), .threads = 0}, "threads");
  expect_refused(ListenerOptions{.store = store(), .batch = 0}, "batch");
}

TEST_F(Options, OfAHandlerAreCheckedWhenItIsRegistered) {
  expect_refused(HandlerOptions{.handler_name = ""}, "handler_name");
  expect_refused(HandlerOptions{.handler_name = "unscoped"}, "handler_name");
  expect_refused(HandlerOptions{.handler_name = "tests.handler", .context = "Not A Context"}, "context");
  expect_refused(HandlerOptions{.handler_name = "tests.handler", .timeout = -1s}, "timeout");
  expect_refused(HandlerOptions{.handler_name = "tests.handler", .concurrency = -1}, "concurrency");
  RetryPolicy never;
  never.max_attempts = 0;
  expect_refused(HandlerOptions{.handler_name = "tests.handler", .retry = never}, "max_attempts");
}

TEST_F(Options, ABadPatternIsQuoted) {
  auto open = listener();
  const auto registered = open.listen({.handler_name = "tests.handler", .events = {"good.*", "*.bad"}}, nothing);
  ASSERT_FALSE(registered);
  EXPECT_EQ(registered.error().code, ErrorCode::invalid);
  EXPECT_THAT(registered.error().message, HasSubstr("'*.bad'"));
}

TEST_F(Options, AHandlerNameIsTakenOnce) {
  auto open = listener();
  required(open.listen({.handler_name = "tests.handler"}, nothing));
  const auto again = open.listen({.handler_name = "tests.handler"}, nothing);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().field, "handler_name");
  EXPECT_THAT(again.error().message, HasSubstr("tests.handler"));
}

TEST_F(Options, HandlersAreRegisteredBeforeTheStart) {
  auto open = listener();
  required(open.listen({.handler_name = "tests.handler"}, nothing));
  required(open.start());
  const auto late = open.listen({.handler_name = "tests.late"}, nothing);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("before start()"));
  EXPECT_FALSE(open.start());
}

TEST_F(Options, AListenerWithoutHandlersDoesNotStart) {
  auto open = listener();
  const auto started = open.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::invalid);
}

TEST_F(Options, OfAPublisherAreCheckedWhenItIsOpened) {
  const auto without_store = EventPublisher::open({});
  ASSERT_FALSE(without_store);
  EXPECT_EQ(without_store.error().field, "store");
  const auto without_connections = EventPublisher::open({.store = store(), .connections = 0});
  ASSERT_FALSE(without_connections);
  EXPECT_EQ(without_connections.error().field, "connections");
}

class OptionsFromEnvironment : public testing::Test {
 protected:
  OptionsFromEnvironment() { clear(); }
  ~OptionsFromEnvironment() override { clear(); }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

 private:
  static void clear() {
    for (const char* name :
         {"SLUICE_STORE", "DATABASE_URL", "SLUICE_GENERATION", "SPECTRAL_GENERATION", "SLUICE_BROKER",
          "SLUICE_BROKER_USER", "SLUICE_BROKER_PASSWORD", "SLUICE_BROKER_TOKEN", "SLUICE_BROKER_CREDENTIALS",
          "SLUICE_BROKER_TLS_CA", "SLUICE_BROKER_TLS_CERT", "SLUICE_BROKER_TLS_KEY", "SLUICE_BROKER_TLS_SERVER_NAME",
          "SLUICE_BROKER_STREAM", "SLUICE_BROKER_SHARDS", "SLUICE_BROKER_ACK_WAIT"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(OptionsFromEnvironment, NamesTheStore) {
  set("DATABASE_URL", "postgres://second/app");
  EXPECT_EQ(ListenerOptions::from_environment()->store, "postgres://second/app");
  set("SLUICE_STORE", "sqlite:first.db");
  EXPECT_EQ(ListenerOptions::from_environment()->store, "sqlite:first.db");
  EXPECT_EQ(PublisherOptions::from_environment()->store, "sqlite:first.db");
  EXPECT_EQ(PublisherOptions::from_environment()->generation, std::nullopt);
}

TEST_F(OptionsFromEnvironment, NamesTheGeneration) {
  set("SLUICE_STORE", "sqlite:first.db");
  set("SPECTRAL_GENERATION", "7");
  EXPECT_EQ(PublisherOptions::from_environment()->generation, 7);
  set("SLUICE_GENERATION", "8");
  EXPECT_EQ(PublisherOptions::from_environment()->generation, 8);
  EXPECT_EQ(ListenerOptions::from_environment()->generation, 8);
}

TEST_F(OptionsFromEnvironment, NamesTheBrokerAndHowToLogIn) {
  set("SLUICE_STORE", "sqlite:first.db");
  EXPECT_TRUE(ListenerOptions::from_environment()->broker.urls.empty());
  set("SLUICE_BROKER", "tls://one:4222, tls://two:4222");
  set("SLUICE_BROKER_USER", "app");
  set("SLUICE_BROKER_PASSWORD", "hush");
  set("SLUICE_BROKER_TOKEN", "word");
  set("SLUICE_BROKER_CREDENTIALS", "/app.creds");
  set("SLUICE_BROKER_TLS_CA", "/ca.pem");
  set("SLUICE_BROKER_TLS_CERT", "/app.pem");
  set("SLUICE_BROKER_TLS_KEY", "/app.key");
  set("SLUICE_BROKER_TLS_SERVER_NAME", "bus");
  set("SLUICE_BROKER_STREAM", "shop");
  set("SLUICE_BROKER_SHARDS", "32");
  set("SLUICE_BROKER_ACK_WAIT", "15s");
  const BrokerAddress broker = ListenerOptions::from_environment()->broker;
  EXPECT_THAT(broker.urls, testing::ElementsAre("tls://one:4222", "tls://two:4222"));
  EXPECT_EQ(broker.user + broker.password + broker.token, "apphushword");
  EXPECT_EQ(broker.credentials_file, "/app.creds");
  EXPECT_EQ(broker.tls_ca + broker.tls_cert + broker.tls_key, "/ca.pem/app.pem/app.key");
  EXPECT_EQ(broker.tls_server_name, "bus");
  EXPECT_EQ(broker.stream, "shop");
  EXPECT_EQ(broker.shards, 32);
  EXPECT_EQ(broker.ack_wait, 15s);
  set("SLUICE_BROKER", "none");
  EXPECT_TRUE(ListenerOptions::from_environment()->broker.urls.empty());
}

TEST_F(OptionsFromEnvironment, ABadNumberOfShardsIsNamed) {
  set("SLUICE_STORE", "sqlite:first.db");
  for (const char* bad : {"0", "many", "3x"}) {
    set("SLUICE_BROKER_SHARDS", bad);
    const auto options = ListenerOptions::from_environment();
    ASSERT_FALSE(options) << bad;
    EXPECT_EQ(options.error().field, "SLUICE_BROKER_SHARDS");
  }
  set("SLUICE_BROKER_SHARDS", "16");
  set("SLUICE_BROKER_ACK_WAIT", "soon");
  EXPECT_EQ(ListenerOptions::from_environment().error().field, "SLUICE_BROKER_ACK_WAIT");
}

TEST_F(OptionsFromEnvironment, WithoutAStoreTheVariableIsNamed) {
  const auto options = ListenerOptions::from_environment();
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().field, "SLUICE_STORE");
}

TEST_F(OptionsFromEnvironment, ABadGenerationIsNamed) {
  set("SLUICE_STORE", "sqlite:first.db");
  set("SLUICE_GENERATION", "newest");
  const auto options = PublisherOptions::from_environment();
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().field, "SLUICE_GENERATION");
}

}  // namespace
}  // namespace sluice::test
