#include "ops/doctor.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/json_object.hpp"
#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

FindingId cause_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::corrupt:
      return FindingId::sqlite_corrupt;
    case ErrorCode::read_only:
      return FindingId::sqlite_not_writable;
    case ErrorCode::schema:
      return FindingId::schema_version;
    default:
      return FindingId::store_unreachable;
  }
}

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::ok:
      return "ok";
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::critical:
      return "critical";
  }
  return "";
}

Severity DoctorReport::worst() const {
  Severity worst = Severity::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::vector<Finding> findings_of(const DoctorFacts& facts) {
  Findings findings;
  findings.ok(FindingId::store_unreachable, facts.store + " answers");
  judge_server(facts, findings);
  judge_notify(facts, findings);
  judge_vacuum(facts, findings);
  judge_partitions(facts, findings);
  judge_delivery(facts, findings);
  judge_growth(facts, findings);
  judge_broker(facts, findings);
  judge_file(facts, findings);
  std::vector<Finding> all = std::move(findings).take();
  std::stable_sort(all.begin(), all.end(), [](const Finding& left, const Finding& right) {
    return left.severity != right.severity ? left.severity > right.severity : left.id < right.id;
  });
  return all;
}

DoctorReport examine(store::Administering& store, const DoctorOptions& options) {
  const auto facts = gather_facts(store, options);
  if (!facts) return report_unreachable(store.display_name(), facts.error());
  return {facts->store, findings_of(*facts)};
}

DoctorReport report_unreachable(const std::string& store, const Error& error) {
  const std::string fix = error.hint.empty() ? "check --store or SLUICE_STORE, and that the store is up" : error.hint;
  return {store, {{cause_of(error.code), Severity::critical, error.message, "nothing else was looked at", fix}}};
}

std::string to_json(const Finding& finding) {
  return JsonObject{}
      .text("id", name(finding.id))
      .text("severity", name(finding.severity))
      .text("title", finding.title)
      .text("detail", finding.detail)
      .text("fix", finding.fix)
      .str();
}

std::string to_json(const DoctorReport& report) {
  std::vector<std::string> findings;
  findings.reserve(report.findings.size());
  for (const Finding& finding : report.findings) findings.push_back(to_json(finding));
  return JsonObject{}
      .text("store", report.store)
      .text("severity", name(report.worst()))
      .array("findings", findings)
      .str();
}

std::string roughly(Duration duration) {
  using namespace std::chrono;
  const Duration length = std::max(duration, Duration::zero());
  if (length < minutes{2}) return to_text(floor<seconds>(length));
  if (length < hours{2}) return std::to_string(floor<minutes>(length).count()) + 'm';
  if (length < days{2}) return std::to_string(floor<hours>(length).count()) + 'h';
  return std::to_string(floor<days>(length).count()) + 'd';
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, kUnits[unit]);
  return text.data();
}

std::string enumerated(const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t at = 0; at < std::min(items.size(), kShown); ++at) text += (at == 0 ? "" : ", ") + items[at];
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

std::string in_words(const store::ServerSession& session) {
  std::string text = "pid " + std::to_string(session.pid) + " (";
  if (!session.application.empty()) text += session.application + ", ";
  text += "user " + (session.user.empty() ? "unknown" : session.user);
  if (!session.state.empty()) text += ", " + session.state;
  return text + ')';
}

std::string terminate_sql(const store::ServerSession& session) {
  return "select pg_terminate_backend(" + std::to_string(session.pid) + ")";
}

}  // namespace sluice::ops
