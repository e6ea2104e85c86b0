#include "sink/sink.hpp"

namespace sluice::sink {

std::string_view name(SinkState state) {
  switch (state) {
    case SinkState::active:
      return "active";
    case SinkState::paused:
      return "paused";
    case SinkState::disabled:
      return "disabled";
    case SinkState::open:
      return "open";
    case SinkState::half_open:
      return "half_open";
  }
  return "active";
}

}  // namespace sluice::sink
