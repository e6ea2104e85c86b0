#include "broker/open_broker.hpp"

#include <utility>

#include "broker/nats/nats_broker.hpp"
#include "broker/redis/redis_broker.hpp"

namespace sluice::broker {

Result<std::unique_ptr<Broker>> open_broker(BrokerOptions options) {
  const bool redis = !options.urls.empty() &&
                     (options.urls.front().starts_with("redis://") || options.urls.front().starts_with("rediss://"));
  return redis ? open_redis(std::move(options)) : open_nats(std::move(options));
}

}  // namespace sluice::broker
