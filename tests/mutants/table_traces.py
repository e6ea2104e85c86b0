"""Guards of traces: that a collector costs nothing and that a trace is recorded whole or not at all; see table.py."""
from mutant import Mutant

QUEUE = "src/otlp/span_record.cpp"

TRACES = [
    Mutant("trace-queue", "No more spans wait than there is room for", "unit_test", "OtlpTracerTest.AFullQueueDropsAndCounts",
           ((QUEUE, "if (spans_.size() - taken_ >= limit_) {", "if (spans_.size() - taken_ >= 1000 * limit_) {"),)),
    Mutant("trace-parent", "Whoever began a trace has decided whether it is recorded", "unit_test",
           "OtlpTracerTest.WhatTheParentDoesNotRecordIsNotRecorded",
           (("src/otlp/sampler.cpp", "if (by_parent_ && parent) return *parent;", "if (by_parent_ && parent && *parent) return *parent;"),)),
    Mutant("trace-refused", "What a collector refuses is not sent again", "unit_test", "SpanExportTest.WhatIsRefusedIsNotSentAgain",
           (("src/otlp/span_export.cpp", "return transient || answer.status == 0 ?", "return transient || answer.status < 600 ?"),)),
    Mutant("trace-blocks", "Whoever has a span to give does not wait for the collector", "unit_test", "SpanExportTest.NobodyWaitsForTheCollector",
           (("src/otlp/span_export.cpp", "const http_client::Answer answer = options_.send(batch_->body, stop);",
             "const http_client::Answer answer = queue_.locked([&] { return options_.send(batch_->body, stop); });"),
            ("src/otlp/span_record.hpp", " private:\n  const std::size_t limit_;",
             "  template <class Run>\n  auto locked(Run run) {\n    const std::lock_guard lock{mutex_};\n    return run();\n  }\n\n private:\n  const std::size_t limit_;"))),
    Mutant("trace-message", "A message carries the span that it is part of, and no other", "unit_test",
           "BrokerSinkTest.AMessageIsASpanOfItsRunAndCarriesItOn",
           (("src/sink/broker/broker_sink.cpp", "return header.first == kTraceparent; });", "return header.first.empty(); });"),)),
    Mutant("trace-message-checked", "No header is made of a trace context that is none", "unit_test",
           "BrokerSinkTest.WithoutATracerTheTraceGoesOnAllTheSame",
           (("src/sink/broker/broker_sink.cpp", "context && check_trace_context(*context)", "context"),)),
    Mutant("trace-program", "A program finds the span that it is part of", "unit_test",
           "ExecSinkTest.AProgramIsASpanOfItsRunAndFindsItInItsEnvironment",
           (("src/sink/exec/exec_sink.cpp", "span ? span->traceparent() : delivery.traceparent(i);", "delivery.traceparent(i);"),)),
]
