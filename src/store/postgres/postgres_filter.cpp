#include "store/postgres/postgres_filter.hpp"

#include <string_view>

#include "core/json.hpp"

namespace sluice::store {
namespace {

class Members {
 public:
  Members& text(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    begin(name);
    json::append_quoted(body_, value);
    return *this;
  }
  Members& ids(std::string_view name, const std::vector<Uuid>& ids) {
    if (ids.empty()) return *this;
    begin(name);
    char separator = '[';
    for (const Uuid& id : ids) {
      body_ += separator;
      json::append_quoted(body_, id.to_string());
      separator = ',';
    }
    body_ += ']';
    return *this;
  }
  [[nodiscard]] std::string str() const { return body_ + '}'; }

 private:
  void begin(std::string_view name) {
    body_ += body_.size() > 1 ? "," : "";
    json::append_quoted(body_, name);
    body_ += ':';
  }
  std::string body_ = "{";
};

std::string text_of(const std::optional<Timestamp>& at) { return at ? to_iso8601(*at) : std::string{}; }
std::string text_of(const std::optional<Uuid>& id) { return id ? id->to_string() : std::string{}; }

}  // namespace

std::string filter_json(const EventFilter& filter) {
  const std::string_view type = filter.event_type;
  const bool prefix = type.ends_with('*');
  return Members{}
      .text("id", text_of(filter.id))
      .text("event_type", prefix ? std::string_view{} : type)
      .text("type_prefix", prefix ? type.substr(0, type.size() - 1) : std::string_view{})
      .text("source", filter.source)
      .text("target", filter.target)
      .text("generation", filter.generation ? std::to_string(*filter.generation) : std::string{})
      .text("workspace_id", text_of(filter.workspace_id))
      .text("error_class", filter.error_class)
      .text("fingerprint", filter.fingerprint)
      .text("ordering_key", filter.ordering_key)
      .text("text", filter.text)
      .text("since", text_of(filter.since))
      .text("until", text_of(filter.until))
      .ids("except", filter.except)
      .str();
}

bool names_clusters(const EventFilter& filter) {
  return !filter.event_type.empty() || !filter.source.empty() || !filter.target.empty() ||
         !filter.error_class.empty() || !filter.fingerprint.empty();
}

}  // namespace sluice::store
