// From options to the adapter that their URL names.
#pragma once

#include <memory>

#include <sluice/result.hpp>
#include "broker/broker.hpp"
#include "broker/broker_options.hpp"

namespace sluice::broker {

/// The error names the part of the options that cannot be. Does not connect.
Result<std::unique_ptr<Broker>> open_broker(BrokerOptions options);

}  // namespace sluice::broker
