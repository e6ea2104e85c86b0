// The keys beyond the first table: what is written down and judged, and those of [relay], which say which broker
// carries the deliveries, and how.
#include <cstdint>
#include <utility>
#include <vector>

#include "config/key_table.hpp"
#include "config/key_values.hpp"

namespace sluice::config {
namespace {

constexpr int kMaxRelayThreads = 64;
constexpr int kMaxReplicas = 5;
constexpr int kMaxShards = 1'024;
constexpr std::int64_t kMostDeadLetters = 10'000;  // no further are they counted

std::vector<Key> address_keys() {
  return {
      {"relay.url",
       "--url",
       {"SLUICE_BROKER"},
       kNone,
       "the broker for `sluice ladder relay`: nats://HOST:4222, tls://…, or redis://HOST:6379; several servers "
       "of one NATS cluster between commas",
       Secrecy::password,
       [](Config& c, const Given& g) { return read_broker(c.relay.urls, g); }},
      {"relay.user",
       "",
       {"SLUICE_BROKER_USER"},
       kNone,
       "the user for the broker",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.user, g); }},
      {"relay.password",
       "",
       {"SLUICE_BROKER_PASSWORD"},
       kNone,
       "the password for the broker",
       Secrecy::whole,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.password, g); }},
      {"relay.token",
       "",
       {"SLUICE_BROKER_TOKEN"},
       kNone,
       "the token for NATS",
       Secrecy::whole,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.token, g); }},
      {"relay.credentials",
       "",
       {"SLUICE_BROKER_CREDENTIALS"},
       kNone,
       "the credentials file for NATS, made by nsc",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.credentials, g); }},
      {"relay.tls_ca",
       "",
       {"SLUICE_BROKER_TLS_CA"},
       kNone,
       "the file of authorities that the broker's certificate is checked against",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.tls_ca, g); }},
      {"relay.tls_cert",
       "",
       {"SLUICE_BROKER_TLS_CERT"},
       kNone,
       "the file of this client's certificate",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.tls_cert, g); }},
      {"relay.tls_key",
       "",
       {"SLUICE_BROKER_TLS_KEY"},
       kNone,
       "the file of its key",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.tls_key, g); }},
      {"relay.tls_server_name",
       "",
       {"SLUICE_BROKER_TLS_SERVER_NAME"},
       kNone,
       "the name that the broker's certificate must have, where it is not that of the URL",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_optional_word(c.relay.tls_server_name, g); }},
  };
}

std::vector<Key> stream_keys() {
  return {
      {"relay.stream",
       "",
       {"SLUICE_BROKER_STREAM"},
       "sluice",
       "the prefix of subjects (NATS) or keys (Redis): one per installation",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_word(c.relay.stream, g); }},
      {"relay.replicas",
       "",
       {"SLUICE_BROKER_REPLICAS"},
       "1",
       "servers that keep each message when the stream is made (NATS); 3 in a NATS cluster",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.relay.replicas, g, 1, kMaxReplicas); }},
      {"relay.shards",
       "",
       {"SLUICE_BROKER_SHARDS"},
       "16",
       "ordering keys are spread over this many; the same in every process, and never changed while events are under "
       "way",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.relay.shards, g, 1, kMaxShards); }},
      {"relay.ack_wait",
       "",
       {"SLUICE_BROKER_ACK_WAIT"},
       "60s",
       "a message that is not settled or renewed for this long comes again",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.relay.ack_wait, g); }},
      {"relay.max_age",
       "",
       {"SLUICE_BROKER_MAX_AGE"},
       "7d",
       "the stream drops messages that are older, handled or not (NATS)",
       Secrecy::open,
       [](Config& c, const Given& g) { return read(c.relay.max_age, g); }},
      {"relay.threads",
       "",
       {"SLUICE_BROKER_THREADS"},
       "2",
       "threads that claim and publish to the broker",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_integer(c.relay.threads, g, 1, kMaxRelayThreads); }},
  };
}

}  // namespace

std::vector<Key> observe_keys() {
  return {
      {"worker.record_successes",
       "",
       {"SLUICE_WORKER_RECORD_SUCCESSES"},
       "false",
       "write every success into the attempt log, also first ones; costs a row per delivery",
       Secrecy::open,
       [](Config& c, const Given& g) { return read_flag(c.worker.record_successes, g); }},
      {"dead_letters.warning",
       "",
       {"SLUICE_DEAD_LETTERS_WARNING"},
       "100",
       "so many dead letters that nobody has acknowledged are a warning; 0: never",
       Secrecy::open,
       [](Config& c, const Given& g) {
         return read_integer(c.dead_letters.warning, g, std::int64_t{0}, kMostDeadLetters);
       }},
      {"dead_letters.critical",
       "",
       {"SLUICE_DEAD_LETTERS_CRITICAL"},
       "1000",
       "so many are critical; 0: never",
       Secrecy::open,
       [](Config& c, const Given& g) {
         return read_integer(c.dead_letters.critical, g, std::int64_t{0}, kMostDeadLetters);
       }},
  };
}

std::vector<Key> relay_keys() {
  std::vector<Key> all = address_keys();
  for (Key& key : stream_keys()) all.push_back(std::move(key));
  return all;
}

}  // namespace sluice::config
