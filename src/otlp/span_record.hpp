// A span that is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/tracer.hpp>
#include "core/trace_context.hpp"
#include "otlp/export_queue.hpp"

namespace sluice::otlp {

struct SpanRecord {
  struct Attribute {
    std::string_view key;  ///< a literal
    std::variant<std::string, std::int64_t> value;
  };

  TraceContext context;
  std::uint64_t parent_span_id = 0;  ///< 0: the first of its trace
  SpanKind kind = SpanKind::internal;
  std::string name;
  Timestamp started{};
  Timestamp ended{};
  std::vector<Attribute> attributes;
  std::vector<TraceContext> links;
  std::size_t dropped_links = 0;
  bool failed = false;
  std::string message;  ///< of a failure
};

using SpanQueue = ExportQueue<SpanRecord>;

}  // namespace sluice::otlp
