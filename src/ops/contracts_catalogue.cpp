#include "ops/contracts_catalogue.hpp"

#include <optional>
#include <string_view>

#include "core/json_object.hpp"

namespace sluice::ops {
namespace {

std::string version_of(const Contract& contract) { return 'v' + std::to_string(contract.event_version); }

std::string message_name(const Contract& contract) { return contract.event_type + '.' + version_of(contract); }

std::string reference(const std::string& path) { return JsonObject{}.text("$ref", "#/" + path).str(); }

std::string message(const ContractEntry& entry) {
  const Contract& contract = entry.contract;
  JsonObject out;
  out.text("name", contract.event_type)
      .text("title", contract.event_type + ", version " + std::to_string(contract.event_version));
  if (!contract.shape.description.empty()) out.text("summary", contract.shape.description);
  std::string_view schema = entry.text;
  while (schema.ends_with('\n')) schema.remove_suffix(1);
  const std::string payload =
      JsonObject{}.text("schemaFormat", "application/schema+json;version=draft-07").raw("schema", schema).str();
  return out.raw("payload", payload).str();
}

std::string channel(const std::string& event_type, const JsonObject& messages) {
  return JsonObject{}.text("address", event_type).raw("messages", messages.str()).str();
}

std::string operation(const std::string& event_type) {
  return JsonObject{}.text("action", "send").raw("channel", reference("channels/" + event_type)).str();
}

// One member per line, because catalogues are kept in version control. `json` is known to be valid.
std::string indented(std::string_view json) {
  std::string out;
  std::size_t level = 0;
  bool in_string = false;
  bool after_open = false;
  const auto new_line = [&] { out.append(1, '\n').append(2 * level, ' '); };
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    const bool is_close = c == '}' || c == ']';
    if (!in_string && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) continue;
    if (!in_string && is_close) --level;
    if (!in_string && after_open != is_close) new_line();
    after_open = !in_string && (c == '{' || c == '[');
    out += c;
    if (in_string) {
      if (c == '\\') out += json[++at];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (after_open) ++level;
    if (c == ',') new_line();
    if (c == ':') out += ' ';
  }
  return out + '\n';
}

}  // namespace

std::string asyncapi(const ContractSet& contracts, const CatalogueInfo& info) {
  JsonObject channels;
  JsonObject operations;
  JsonObject messages;
  JsonObject of_type;
  const auto& entries = contracts.entries();
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const Contract& contract = entries[at].contract;
    messages.raw(message_name(contract), message(entries[at]));
    of_type.raw(version_of(contract), reference("components/messages/" + message_name(contract)));
    const bool last_of_type = at + 1 == entries.size() || entries[at + 1].contract.event_type != contract.event_type;
    if (!last_of_type) continue;
    channels.raw(contract.event_type, channel(contract.event_type, of_type));
    operations.raw("publish." + contract.event_type, operation(contract.event_type));
    of_type = JsonObject{};
  }
  return indented(JsonObject{}
                      .text("asyncapi", "3.0.0")
                      .raw("info", JsonObject{}.text("title", info.title).text("version", info.version).str())
                      .text("defaultContentType", "application/json")
                      .raw("channels", channels.str())
                      .raw("operations", operations.str())
                      .raw("components", JsonObject{}.raw("messages", messages.str()).str())
                      .str());
}

}  // namespace sluice::ops
