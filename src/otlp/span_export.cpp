#include "otlp/span_export.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/words.hpp"

namespace sluice::otlp {
namespace {

constexpr std::array kTransient{429, 502, 503, 504};

}  // namespace

Fate fate_of(const http_client::Answer& answer) {
  if (answer.status >= 200 && answer.status < 300) return Fate::taken;
  const bool transient = std::find(kTransient.begin(), kTransient.end(), answer.status) != kTransient.end();
  return transient || answer.status == 0 ? Fate::again : Fate::refused;
}

std::string described(const http_client::Answer& answer) {
  if (answer.status == 0) return std::string{http_client::name(answer.reason)} + ": " + answer.detail;
  const std::string said = printable(answer.body);
  return std::to_string(answer.status) + (said.empty() ? "" : ": " + said);
}

SpanExport::SpanExport(SpanQueue& queue, SpanExportOptions options) : queue_(queue), options_(std::move(options)) {}

bool SpanExport::take() {
  if (batch_) return true;
  const std::vector<SpanRecord> spans = queue_.take();
  if (spans.empty()) return false;
  batch_ = Batch{traces_json(spans, options_.sender), static_cast<std::int64_t>(spans.size())};
  return true;
}

Duration SpanExport::step(const std::stop_token& stop) {
  if (!take()) return options_.delay;
  const http_client::Answer answer = options_.send(batch_->body, stop);
  switch (fate_of(answer)) {
    case Fate::taken:
      delivered(answer);
      return queue_.has_batch() ? Duration::zero() : options_.delay;
    case Fate::refused:
      drop("the collector refuses spans: " + described(answer));
      return options_.delay;
    case Fate::again:
      break;
  }
  const Duration wait = wait_after(answer);
  if (++batch_->tries >= options_.tries) {
    drop("the collector cannot be reached: " + described(answer));
  } else {
    note("the collector cannot be reached: " + described(answer));
  }
  return wait;
}

Duration SpanExport::wait_after(const http_client::Answer& answer) const {
  Duration wait = std::min(options_.first_wait * (1 << std::min(batch_->tries, 16)), options_.longest_wait);
  if (const auto header = answer.header("retry-after")) {
    if (const auto asked = http_client::parse_retry_after(*header, options_.clock())) wait = std::max(wait, *asked);
  }
  return wait;
}

void SpanExport::delivered(const http_client::Answer& answer) {
  const Rejected rejected = rejected_of(answer.body);
  const std::int64_t lost = std::clamp<std::int64_t>(rejected.count, 0, batch_->spans);
  exported_ += batch_->spans - lost;
  dropped_ += lost;
  batch_.reset();
  if (lost > 0) return note("the collector took a part of the spans: " + printable(rejected.message));
  if (std::exchange(in_trouble_, false)) {
    options_.logger.info("traces are exported again", {{"collector", options_.target}, {"dropped", counts().dropped}});
  }
}

void SpanExport::drop(const std::string& why) {
  dropped_ += batch_->spans;
  batch_.reset();
  note(why);
}

// Once, until it works again: a collector that is away for a night is one line.
void SpanExport::note(const std::string& trouble) {
  if (std::exchange(in_trouble_, true)) return;
  options_.logger.warn("traces are not exported: " + trouble,
                       {{"collector", options_.target}, {"dropped", counts().dropped}});
}

bool SpanExport::empty() const { return !batch_ && queue_.size() == 0; }

void SpanExport::give_up() {
  if (batch_) dropped_ += batch_->spans;
  batch_.reset();
}

telemetry::SpanCounts SpanExport::counts() const {
  return {exported_.load(), dropped_.load() + queue_.dropped(), static_cast<std::int64_t>(queue_.size())};
}

}  // namespace sluice::otlp
