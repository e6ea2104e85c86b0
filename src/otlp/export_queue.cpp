#include "otlp/export_queue.hpp"

#include <variant>

#include "core/utf8.hpp"

namespace sluice::otlp {

LogEntry entry_of(const telemetry::LogRecord& record) {
  LogEntry entry;
  entry.at = record.timestamp;
  entry.level = record.level;
  entry.message = utf8::prefix(record.message, kMostBytes);
  entry.trace_id = record.context.trace_id.value_or("");
  entry.span_id = record.context.span_id.value_or("");
  entry.fields.reserve(record.fields.size() + 1);
  if (record.context.generation) entry.fields.emplace_back("generation", *record.context.generation);
  for (const telemetry::LogField& field : record.fields) {
    if (std::holds_alternative<std::monostate>(field.value)) continue;
    const auto* text = std::get_if<std::string>(&field.value);
    entry.fields.emplace_back(std::string{field.key},
                              text ? std::string{utf8::prefix(*text, kMostBytes)} : field.value);
  }
  return entry;
}

}  // namespace sluice::otlp
