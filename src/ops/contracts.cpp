#include "ops/contracts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"

namespace sluice::ops {
namespace {

std::pair<std::string_view, int> key(const ContractEntry& entry) {
  return {entry.contract.event_type, entry.contract.event_version};
}

ContractFinding without_snapshot(const Contract& contract) {
  return {FindingSeverity::outdated,
          contract.event_type,
          contract.event_version,
          "event_version",
          contract.file_name() + " is not among the snapshots",
          "run `sluice contract snapshot` and commit the file"};
}

ContractFinding no_longer_published(const Contract& contract) {
  return {FindingSeverity::breaking,
          contract.event_type,
          contract.event_version,
          "event_type",
          "event_type " + contract.event_type + " has a snapshot, but no schema any more",
          "keep publishing it until the deadline that was announced, then delete its snapshots"};
}

ContractFinding not_published(const Contract& contract) {
  return {FindingSeverity::breaking,
          contract.event_type,
          contract.event_version,
          "event_type",
          "event_type " + contract.event_type + " is read by the consumer, but no producer publishes it",
          "check the name, and that the schemas of its producer are among --producer"};
}

void append(std::vector<ContractFinding>& to, std::vector<ContractFinding> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

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

Result<ContractSet> ContractSet::read(const std::vector<ContractFile>& files) {
  ContractSet set;
  for (const ContractFile& file : files) {
    SLUICE_TRY(auto contract, read_contract(file.text, file.file_name));
    if (contract.file_name() != file.file_name) {
      return invalid(file.file_name, file.file_name + " must be named " + contract.file_name() +
                                         ", after the event type and version in it");
    }
    set.entries_.push_back({std::move(contract), file.text});
  }
  std::sort(set.entries_.begin(), set.entries_.end(),
            [](const ContractEntry& a, const ContractEntry& b) { return key(a) < key(b); });
  return set;
}

const ContractEntry* ContractSet::find(std::string_view event_type, int event_version) const {
  const ContractEntry* entry = newest_up_to(event_type, event_version);
  return entry != nullptr && entry->contract.event_version == event_version ? entry : nullptr;
}

const ContractEntry* ContractSet::applied_to(const EventEnvelope& envelope) const {
  const ContractEntry* own = find(envelope.event_type(), envelope.event_version());
  return own != nullptr ? own : newest(envelope.event_type());
}

const ContractEntry* ContractSet::newest(std::string_view event_type) const {
  return newest_up_to(event_type, std::numeric_limits<int>::max());
}

const ContractEntry* ContractSet::newest_up_to(std::string_view event_type, int event_version) const {
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), std::pair{event_type, event_version},
                       [](const auto& wanted, const ContractEntry& entry) { return wanted < key(entry); });
  if (after == entries_.begin()) return nullptr;
  const ContractEntry& last = *std::prev(after);
  return last.contract.event_type == event_type ? &last : nullptr;
}

ContractCheck check_contracts(const ContractSet& current, const ContractSet& snapshots) {
  ContractCheck check;
  for (const ContractEntry& entry : current.entries()) {
    const Contract& contract = entry.contract;
    const ContractEntry* own = snapshots.find(contract.event_type, contract.event_version);
    const bool is_newest = current.newest(contract.event_type) == &entry;
    const ContractEntry* baseline = is_newest ? snapshots.newest(contract.event_type) : own;
    if (baseline != nullptr) append(check.findings, compare(baseline->contract, contract));
    if (own == nullptr) check.findings.push_back(without_snapshot(contract));
    if (own != nullptr && own->text == entry.text) {
      ++check.unchanged;
    } else {
      check.to_write.push_back({contract.file_name(), entry.text});
    }
  }
  for (const ContractEntry& kept : snapshots.entries()) {
    const Contract& contract = kept.contract;
    const bool is_newest = snapshots.newest(contract.event_type) == &kept;
    if (is_newest && current.newest(contract.event_type) == nullptr) {
      check.findings.push_back(no_longer_published(contract));
    }
  }
  return check;
}

std::vector<ContractFinding> cross_check_contracts(const ContractSet& producers, const ContractSet& consumers) {
  std::vector<ContractFinding> findings;
  for (const ContractEntry& consumer : consumers.entries()) {
    const ContractEntry* producer = producers.newest(consumer.contract.event_type);
    if (producer == nullptr) {
      findings.push_back(not_published(consumer.contract));
    } else {
      append(findings, cross_check(producer->contract, consumer.contract));
    }
  }
  return findings;
}

std::string to_json(const ContractFinding& finding) {
  return JsonObject{}
      .text("severity", name(finding.severity))
      .text("event_type", finding.event_type)
      .number("event_version", finding.event_version)
      .text("path", finding.path)
      .text("message", finding.message)
      .text("remedy", finding.remedy)
      .str();
}

std::string to_json(const std::vector<ContractFinding>& findings) {
  std::vector<std::string> texts;
  texts.reserve(findings.size());
  for (const ContractFinding& finding : findings) texts.push_back(to_json(finding));
  const auto count = [&](FindingSeverity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const ContractFinding& finding) { return finding.severity == severity; });
  };
  return JsonObject{}
      .array("findings", texts)
      .number("breaking", count(FindingSeverity::breaking))
      .number("outdated", count(FindingSeverity::outdated))
      .str();
}

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

namespace {

// Payloads may have 256 KiB each, and a page is in memory at once.
constexpr int kPage = 100;

class LiveCheck {
 public:
  LiveCheck(const ContractSet& contracts, std::size_t max_offenders)
      : contracts_(contracts), max_offenders_(max_offenders) {}

  void take(const store::EventRecord& event) {
    const auto& envelope = event.envelope;
    const ContractEntry* entry = contracts_.applied_to(envelope);
    if (entry == nullptr) {
      ++report_.without_schema[envelope.event_type()];
      return;
    }
    const auto checked = check_payload(entry->contract, envelope.payload());
    if (checked) {
      ++report_.readable;
      return;
    }
    ++report_.unreadable;
    if (report_.offenders.size() >= max_offenders_) return;
    report_.offenders.push_back({envelope.event_id(), envelope.event_type(), envelope.event_version(), event.status,
                                 entry->contract.event_version, checked.error().field, checked.error().message});
  }

  LiveReport report() && { return std::move(report_); }

 private:
  const ContractSet& contracts_;
  std::size_t max_offenders_;
  LiveReport report_;
};

}  // namespace

std::int64_t LiveReport::events_without_schema() const {
  return std::accumulate(without_schema.begin(), without_schema.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

Result<LiveReport> verify_live(store::Administering& store, const ContractSet& contracts, const LiveRequest& request) {
  LiveCheck check{contracts, request.offenders};
  for (const Status status : {Status::pending, Status::failed}) {
    store::EventFilter filter;
    filter.status = status;
    filter.generation = request.generation;
    std::optional<std::int64_t> before;
    do {
      SLUICE_TRY(const auto page, store.list_events(filter, kPage, before));
      for (const auto& event : page.events) check.take(event);
      before = page.next;
    } while (before);
  }
  return std::move(check).report();
}

std::string to_json(const LiveOffender& offender) {
  return JsonObject{}
      .uuid("event_id", offender.event_id)
      .text("event_type", offender.event_type)
      .number("event_version", offender.event_version)
      .text("status", name(offender.status))
      .number("schema_version", offender.schema_version)
      .text("path", offender.path)
      .text("message", offender.message)
      .str();
}

std::string to_json(const LiveReport& report) {
  JsonObject without_schema;
  for (const auto& [event_type, count] : report.without_schema) without_schema.number(event_type, count);
  std::vector<std::string> offenders;
  offenders.reserve(report.offenders.size());
  for (const LiveOffender& offender : report.offenders) offenders.push_back(to_json(offender));
  return JsonObject{}
      .number("events", report.events())
      .number("readable", report.readable)
      .number("unreadable", report.unreadable)
      .number("without_schema", report.events_without_schema())
      .raw("types_without_schema", without_schema.str())
      .array("offenders", offenders)
      .str();
}

}  // namespace sluice::ops
