// A filter as core.cluster_matches and core.dead_matches read it.
#pragma once

#include <string>

#include "store/administer.hpp"

namespace sluice::store {

/// `{"event_type":"a.b","since":"…"}`: the members that are given.
std::string filter_json(const EventFilter& filter);

/// Whether it names what a kind of failure knows: type, source, target, class or fingerprint.
bool names_clusters(const EventFilter& filter);

}  // namespace sluice::store
