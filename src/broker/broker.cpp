#include "broker/broker.hpp"

#include "core/words.hpp"

namespace sluice::broker {
namespace {

// FNV-1a: published in one version and consumed by another, so it must never change.
std::uint64_t fingerprint_of(std::string_view text) {
  constexpr std::uint64_t kBasis = 14695981039346656037ULL;
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t hash = kBasis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::string worth_on_nats(const BrokerFacts& facts) {
  if (facts.storage == "memory") return "the stream is kept in memory: a restart of its servers loses it";
  if (facts.replicas.value_or(1) >= 3) {
    return "an answer means that a majority of " + std::to_string(*facts.replicas) +
           " servers has the message: the crash of one loses nothing, a power failure of all at once may lose what "
           "they "
           "had not synced";
  }
  return "an answer means that one server has written the message to its file without waiting for the disk: a crash of "
         "the process loses nothing, a power failure may lose the last seconds";
}

std::string worth_on_redis(const BrokerFacts& facts) {
  if (!facts.appendonly || (*facts.appendonly && !facts.appendfsync)) {
    return "the server does not tell whether it keeps what it answers (CONFIG is refused): it should have appendonly "
           "yes and appendfsync always";
  }
  if (!facts.appendonly.value_or(false)) {
    return "appendonly is off: a crash loses everything since the last snapshot; set appendonly yes";
  }
  if (facts.appendfsync == "always") return "an answer means that the message is on disk: a crash loses nothing";
  if (facts.appendfsync == "no")
    return "appendfsync is no: a power failure may lose what the system has not yet written";
  return "appendfsync is everysec: a power failure may lose the last second or two, and so may a crash of redis-server "
         "while its disk is slow; appendfsync always loses nothing";
}

}  // namespace

std::optional<std::string_view> value_of(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (is_same_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

std::string worth_of_answer(const BrokerFacts& facts) {
  return facts.kind == "redis" ? worth_on_redis(facts) : worth_on_nats(facts);
}

int shard_of(std::string_view ordering_key, int shards) {
  return static_cast<int>(fingerprint_of(ordering_key) % static_cast<std::uint64_t>(shards));
}

}  // namespace sluice::broker
