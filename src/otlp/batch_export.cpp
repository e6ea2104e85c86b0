#include "otlp/batch_export.hpp"

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

BatchExport::BatchExport(Waiting& waiting, BatchExportOptions options)
    : waiting_(waiting), options_(std::move(options)) {}

bool BatchExport::take() {
  if (batch_) return true;
  Body body = waiting_.take();
  if (body.records == 0) return false;
  batch_ = Batch{std::move(body)};
  return true;
}

Duration BatchExport::step(const std::stop_token& stop) {
  if (!take()) return options_.delay;
  const http_client::Answer answer = options_.send(batch_->body.text, stop);
  switch (fate_of(answer)) {
    case Fate::taken:
      delivered(answer);
      return waiting_.has_batch() ? Duration::zero() : options_.delay;
    case Fate::refused:
      drop("the collector refuses them: " + described(answer));
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

Duration BatchExport::wait_after(const http_client::Answer& answer) const {
  Duration wait = std::min(options_.first_wait * (1 << std::min(batch_->tries, 16)), options_.longest_wait);
  if (const auto header = answer.header("retry-after")) {
    if (const auto asked = http_client::parse_retry_after(*header, options_.clock())) wait = std::max(wait, *asked);
  }
  return wait;
}

void BatchExport::delivered(const http_client::Answer& answer) {
  const Rejected rejected = rejected_of(answer.body);
  const std::int64_t lost = std::clamp<std::int64_t>(rejected.count, 0, batch_->body.records);
  exported_ += batch_->body.records - lost;
  dropped_ += lost;
  batch_.reset();
  if (lost > 0) return note("the collector took a part of them: " + printable(rejected.message));
  if (std::exchange(in_trouble_, false)) {
    options_.logger.info(std::string{options_.what} + " are exported again",
                         {{"collector", options_.target}, {"dropped", counts().dropped}});
  }
}

void BatchExport::drop(const std::string& why) {
  dropped_ += batch_->body.records;
  batch_.reset();
  note(why);
}

// Once, until it works again: a collector that is away for a night is one line.
void BatchExport::note(const std::string& trouble) {
  if (std::exchange(in_trouble_, true)) return;
  options_.logger.warn(std::string{options_.what} + " are not exported: " + trouble,
                       {{"collector", options_.target}, {"dropped", counts().dropped}});
}

bool BatchExport::empty() const { return !batch_ && waiting_.size() == 0; }

void BatchExport::give_up() {
  if (batch_) dropped_ += batch_->body.records;
  batch_.reset();
}

telemetry::ExportCounts BatchExport::counts() const {
  return {exported_.load(), dropped_.load() + waiting_.dropped(), static_cast<std::int64_t>(waiting_.size())};
}

}  // namespace sluice::otlp
