"""Guards of traces: that a collector costs nothing and that a trace is recorded whole or not at all; see table.py."""
from mutant import Mutant

QUEUE = "src/otlp/export_queue.hpp"

TRACES = [
    Mutant("trace-queue", "No more spans wait than there is room for", "unit_test", "OtlpTracerTest.AFullQueueDropsAndCounts",
           ((QUEUE, "if (records_.size() - taken_ >= limit_) {", "if (records_.size() - taken_ >= 1000 * limit_) {"),)),
    Mutant("trace-parent", "Whoever began a trace has decided whether it is recorded", "unit_test",
           "OtlpTracerTest.WhatTheParentDoesNotRecordIsNotRecorded",
           (("src/otlp/otlp.cpp", "if (by_parent_ && parent) return *parent;", "if (by_parent_ && parent && *parent) return *parent;"),)),
    Mutant("trace-refused", "What a collector refuses is not sent again", "unit_test", "BatchExportTest.WhatIsRefusedIsNotSentAgain",
           (("src/otlp/batch_export.cpp", "return transient || answer.status == 0 ?", "return transient || answer.status < 600 ?"),)),
    Mutant("trace-blocks", "Whoever has a span to give does not wait for the collector", "unit_test", "BatchExportTest.NobodyWaitsForTheCollector",
           (("src/otlp/batch_export.cpp", "const http_client::Answer answer = options_.send(batch_->body.text, stop);",
             "const http_client::Answer answer = [&] {\n    const auto held = waiting_.held();\n    return options_.send(batch_->body.text, stop);\n  }();"),
            ("src/otlp/batch_export.hpp", "  [[nodiscard]] virtual std::int64_t dropped() const = 0;",
             "  [[nodiscard]] virtual std::int64_t dropped() const = 0;\n  virtual std::unique_lock<std::mutex> held() = 0;"),
            ("src/otlp/batch_export.hpp", "  [[nodiscard]] std::int64_t dropped() const override { return queue_.dropped(); }",
             "  [[nodiscard]] std::int64_t dropped() const override { return queue_.dropped(); }\n"
             "  std::unique_lock<std::mutex> held() override { return queue_.held(); }"),
            (QUEUE, " private:\n  const std::size_t limit_;",
             "  std::unique_lock<std::mutex> held() { return std::unique_lock{mutex_}; }\n\n private:\n  const std::size_t limit_;"))),
    Mutant("log-asked-for", "The log goes to a collector only where that is asked for", "unit_test",
           "OtelConfig.TheLogIsSentOnlyWhereThatIsAskedFor",
           (("src/config/key_table_otel.cpp", "logs == LogExporter::automatic && !logs_endpoint.empty()", "logs == LogExporter::automatic"),)),
    Mutant("log-cut", "A long line is cut before it waits for the collector", "unit_test", "OtlpJson.LongTextsOfALineAreCut",
           (("src/otlp/export_queue.cpp", "entry.message = utf8::prefix(record.message, kMostBytes);", "entry.message = record.message;"),)),
    Mutant("trace-message", "A message carries the span that it is part of, and no other", "unit_test",
           "BrokerSinkTest.AMessageIsASpanOfItsRunAndCarriesItOn",
           (("src/sink/broker/broker_sink.cpp", "return header.first == kTraceparent; });", "return header.first.empty(); });"),)),
    Mutant("trace-message-checked", "No header is made of a trace context that is none", "unit_test",
           "BrokerSinkTest.WithoutATracerTheTraceGoesOnAllTheSame",
           (("src/sink/broker/broker_sink.cpp", "context && check_trace_context(*context)", "context"),)),
    Mutant("trace-program", "A program finds the span that it is part of", "unit_test",
           "ExecSinkTest.AProgramIsASpanOfItsRunAndFindsItInItsEnvironment",
           (("src/sink/exec/exec_sink.cpp", "span ? span->traceparent() : delivery.traceparent(i);", "delivery.traceparent(i);"),)),
    Mutant("trace-hook", "A webhook begins a trace: its sender's is a stranger's", "http_test",
           "HookRoute.ADeliveryBeginsATraceWhateverItsSenderSays",
           (("src/http/routes_hooks.cpp", "{&*request, 1}, std::nullopt);", "{&*request, 1}, call.request.header(\"traceparent\"));"),)),
]
