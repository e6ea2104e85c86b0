// GET /v1/stream: one stream of server-sent events per client, fed by one reading of the store for all of them.
//
// Thread-safety: add() and its streams from any thread; step() from one.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "http/router.hpp"
#include "http/routes.hpp"

namespace sluice::http {

class EventStream {
 public:
  explicit EventStream(Context& context) : context_(context) {}

  /// `topics`: overview, operations, operation:ID. The error names `topics`.
  Result<std::set<std::string>> read_topics(const std::string& text) const;
  void add(std::shared_ptr<Stream> stream, std::set<std::string> topics);

  /// Looks at what somebody listens to and sends what has changed; a sign of life when nothing has for a while.
  /// How long to rest then.
  Duration step(Timestamp now);
  /// Ends every stream.
  void close();

 private:
  struct Listener {
    std::shared_ptr<Stream> stream;
    std::set<std::string> topics;
    std::map<std::string, std::string> sent;  // topic → what it was told last
    Timestamp last{};
  };
  Result<std::string> look(const std::string& topic) const;

  Context& context_;
  std::mutex mutex_;
  std::vector<Listener> listeners_;
};

std::vector<Route> stream_routes(EventStream& streams);

}  // namespace sluice::http
