#include "broker/nats/nats_broker.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "broker/nats/nats.hpp"
#include "core/redact.hpp"
#include "core/try.hpp"

namespace sluice::broker {
namespace {

bool is_prefix(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class NatsBroker final : public Broker {
 public:
  explicit NatsBroker(BrokerOptions options)
      : prefix_(options.prefix),
        stream_(in_capitals(options.prefix)),
        link_(std::make_shared<NatsLink>(std::move(options))) {}

  std::vector<Result<Taken>> publish(std::span<const OutgoingMessage> messages, Duration deadline,
                                     const std::stop_token& stop) override {
    return publish_on_nats(*link_, messages, deadline, stop);
  }

  Result<void> ensure(const StreamSpec& spec) override {
    return ensure_on_nats(*link_, {stream_, prefix_ + ".>"}, spec);
  }
  Result<BrokerFacts> inspect() override { return inspect_nats(*link_, stream_); }

  [[nodiscard]] std::string address(std::int64_t generation, std::optional<int> shard,
                                    std::string_view event_type) const override {
    return lane_subject(prefix_, generation, shard).append(1, '.').append(event_type);
  }

  Result<std::unique_ptr<Consumer>> consume(const ConsumerSpec& spec) override {
    return consume_from_nats(link_, stream_, prefix_, spec);
  }

 private:
  const std::string prefix_;
  const std::string stream_;
  const std::shared_ptr<NatsLink> link_;
};

}  // namespace

Result<std::unique_ptr<Broker>> open_nats(BrokerOptions options) {
  if (options.urls.empty()) return invalid("urls", "urls is missing; write urls = [\"nats://127.0.0.1:4222\"]");
  for (const std::string& url : options.urls) {
    if (url.starts_with("nats://") || url.starts_with("tls://")) continue;
    return invalid("urls", "urls must begin with nats:// or tls://; " + redact_address(url) + " does not");
  }
  if (!is_prefix(options.prefix)) {
    return invalid("prefix", "prefix must be made of letters, digits, '_' and '-': it begins every subject");
  }
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return invalid("tls_cert", "tls_cert and tls_key go together; give both or neither");
  }
  const std::array ways{!options.user.empty(), !options.token.empty(), !options.credentials_file.empty()};
  if (std::count(ways.begin(), ways.end(), true) > 1) {
    return invalid(options.credentials_file.empty() ? "token" : "credentials_file",
                   "there are several ways to log in; give user and password, a token, or a credentials file");
  }
  return std::unique_ptr<Broker>{std::make_unique<NatsBroker>(std::move(options))};
}

}  // namespace sluice::broker
