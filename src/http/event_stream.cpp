#include "http/event_stream.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/operations.hpp"

namespace sluice::http {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBetweenLooks = 1s;
constexpr Duration kSignOfLife = 15s;
constexpr std::size_t kMostListeners = 200;
constexpr int kListedOperations = 20;
constexpr std::string_view kOperation = "operation:";

// One line of data: JSON that this program writes has no line breaks.
std::string message(const std::string& topic, const std::string& json) {
  const std::string name = topic.starts_with(kOperation) ? "operation" : topic;
  return "event: " + name + "\ndata: " + json + "\n\n";
}

}  // namespace

Result<std::set<std::string>> EventStream::read_topics(const std::string& text) const {
  std::set<std::string> topics;
  std::istringstream words{text};
  for (std::string topic; std::getline(words, topic, ',');) {
    if (topic.size() > kOperation.size() && topic.starts_with(kOperation)) {
      SLUICE_TRY(const auto id, ops::whole_operation_id(context_.store, topic.substr(kOperation.size()), "topics"));
      topic = std::string{kOperation} + id.to_string();
    } else if (topic != "overview" && topic != "operations") {
      return invalid("topics", "topics must be some of overview, operations and operation:ID, joined by commas");
    }
    topics.insert(topic);
  }
  if (topics.empty() || topics.size() > 10) return invalid("topics", "topics must name one to ten topics");
  return topics;
}

void EventStream::add(std::shared_ptr<Stream> stream, std::set<std::string> topics) {
  const std::lock_guard lock{mutex_};
  if (listeners_.size() >= kMostListeners) return stream->close();
  stream->send("retry: 3000\n\n");
  listeners_.push_back({std::move(stream), std::move(topics), {}, {}});
}

Result<std::string> EventStream::look(const std::string& topic) const {
  if (topic == "overview") return context_.overview(ops::parse_window("1h").value());
  if (topic == "operations") {
    SLUICE_TRY(const auto all, ops::list_operations(context_.store, kListedOperations));
    return ops::to_json(all);
  }
  SLUICE_TRY(const auto id, Uuid::parse(topic.substr(kOperation.size()), "topics"));
  SLUICE_TRY(const auto operation, ops::find_operation(context_.store, id));
  SLUICE_TRY(const auto now, ops::now(context_.store));
  return ops::to_json(operation, now);
}

Duration EventStream::step(Timestamp now) {
  std::set<std::string> wanted;
  {
    const std::lock_guard lock{mutex_};
    for (const Listener& listener : listeners_) wanted.insert(listener.topics.begin(), listener.topics.end());
  }
  std::map<std::string, std::string> seen;
  for (const std::string& topic : wanted) {
    // What cannot be seen now is seen later; the stream says nothing meanwhile.
    if (auto json = look(topic)) seen.emplace(topic, *std::move(json));
  }
  const std::lock_guard lock{mutex_};
  std::erase_if(listeners_, [&](Listener& listener) {
    std::string out;
    for (const std::string& topic : listener.topics) {
      const auto found = seen.find(topic);
      if (found == seen.end() || listener.sent[topic] == found->second) continue;
      listener.sent[topic] = found->second;
      out += message(topic, found->second);
    }
    if (out.empty() && now - listener.last < kSignOfLife) return false;
    listener.last = now;
    return !listener.stream->send(out.empty() ? ": still here\n\n" : std::move(out));
  });
  return kBetweenLooks;
}

void EventStream::close() {
  const std::lock_guard lock{mutex_};
  for (Listener& listener : listeners_) listener.stream->close();
  listeners_.clear();
}

std::vector<Route> stream_routes(EventStream& streams) {
  const auto answer = [&streams](const Call& call) {
    auto topics = streams.read_topics(call.request.parameter("topics").value_or("overview,operations"));
    if (!topics) return problem(topics.error());
    Response response{200, {}, {}, [&streams, wanted = *std::move(topics)](std::shared_ptr<Stream> stream) {
                        streams.add(std::move(stream), wanted);
                      }};
    response.with("Content-Type", "text/event-stream")
        .with("Cache-Control", "no-store")
        .with("X-Accel-Buffering", "no");
    return response;
  };
  return {{"GET", "/v1/stream", Role::viewer, 0, answer, {}}};
}

}  // namespace sluice::http
