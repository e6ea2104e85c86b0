#include "cli/follow_operation.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/flags.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/words.hpp"
#include "ops/operation_runner.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kBarWidth = 30;

std::int64_t settled(const OperationCounts& counts) {
  return counts.delivered + counts.failed_again + counts.skipped + counts.changed;
}

// A bar on a terminal; elsewhere a line now and then, about ten in all.
class ProgressLine {
 public:
  explicit ProgressLine(const Session& session)
      : session_(session), bar_(session.console().err_is_tty && !session.arguments().has("--quiet")) {}

  void show(const store::OperationRecord& operation, Timestamp now) {
    const OperationCounts& counts = operation.progress.counts;
    if (bar_) return draw(operation, now);
    if (settled(counts) < next_note_ && operation.progress.state == last_) return;
    // The last step may only have found that it is over.
    if (std::string text = progress_text(operation); text != told_) {
      session_.note(text);
      told_ = std::move(text);
    }
    last_ = operation.progress.state;
    next_note_ = settled(counts) + std::max<std::int64_t>(counts.total / 10, 1);
  }
  void end() const {
    if (bar_ && drawn_) session_.console().err << '\n';
  }

 private:
  void draw(const store::OperationRecord& operation, Timestamp now) {
    const OperationCounts& counts = operation.progress.counts;
    const std::string pace = pace_text(operation, now);
    const auto width = static_cast<std::int64_t>(kBarWidth);
    const auto done = static_cast<std::size_t>(settled(counts) * width / std::max<std::int64_t>(counts.total, 1));
    session_.console().err << "\r\x1b[K[" << std::string(done, '#') << std::string(kBarWidth - done, '.') << "] "
                           << progress_text(operation) << (pace.empty() ? "" : "; ") << pace << std::flush;
    drawn_ = true;
  }

  const Session& session_;
  bool bar_;
  bool drawn_ = false;
  std::int64_t next_note_ = 1;
  std::string told_;
  OperationState last_ = OperationState::running;
};

Exit exit_of(const store::OperationRecord& operation) {
  const OperationCounts& counts = operation.progress.counts;
  const bool all =
      operation.progress.state == OperationState::finished && counts.delivered + counts.changed == counts.total;
  return all ? Exit::ok : Exit::partial;
}

std::string executor_name(const Session& session) {
  const host::Entropy& entropy = session.adapters().entropy;
  return "cli-" + make_uuid_v7(entropy.clock(), entropy.random()).to_string();
}

}  // namespace

std::string progress_text(const store::OperationRecord& operation) {
  const OperationCounts& counts = operation.progress.counts;
  std::vector<std::string> parts;
  const bool replay = operation.progress.kind == OperationKind::replay;
  parts.push_back(replay ? std::to_string(counts.delivered) + " delivered"
                         : std::to_string(counts.changed) + ' ' +
                               (operation.progress.kind == OperationKind::discard ? "discarded" : "restored"));
  if (counts.failed_again > 0) parts.push_back(std::to_string(counts.failed_again) + " failed again");
  if (counts.skipped > 0) parts.push_back(std::to_string(counts.skipped) + " skipped");
  if (counts.in_flight() > 0) parts.push_back(std::to_string(counts.in_flight()) + " in flight");
  if (counts.remaining() > 0) parts.push_back(std::to_string(counts.remaining()) + " remaining");
  std::string text = joined(parts, ", ");
  const OperationState state = operation.progress.state;
  if (state != OperationState::running && state != OperationState::finished) text += "; " + std::string{name(state)};
  if (!operation.note.empty()) text += ": " + operation.note;
  return text;
}

std::string pace_text(const store::OperationRecord& operation, Timestamp now) {
  const ops::OperationPace pace = ops::pace_of(operation, now);
  std::vector<std::string> parts;
  const auto phase = phase_of(operation.progress);
  if (phase && *phase != OperationPhase::rest) parts.emplace_back(name(*phase));
  if (pace.per_second) parts.push_back(json_decimal(std::round(*pace.per_second * 10) / 10) + "/s");
  if (pace.left) parts.push_back("about " + age_text(now, now + *pace.left) + " left");
  return joined(parts, ", ");
}

void print_operation(const Session& session, const store::OperationRecord& operation) {
  if (session.format() == Format::table) {
    session.out() << "operation " << operation.id.to_string() << ' ' << name(operation.progress.state) << ": "
                  << printable(progress_text(operation)) << '\n';
  } else {
    session.out() << ops::to_json(operation) << '\n';
  }
}

Result<Exit> follow_operation(Session& session, const Session::Opened& opened, const Uuid& id) {
  ops::OperationRunner runner{*opened.store, executor_name(session), opened.config.operation_lease};
  ProgressLine line{session};
  for (;;) {
    const auto stepped = runner.step(id);
    // A database that is away comes back; the operation is as it was.
    if (!stepped && stepped.error().retry == Retry::never) return stepped.error();
    if (stepped) line.show(stepped->operation, session.adapters().entropy.clock());
    if (stepped && is_over(stepped->operation.progress.state)) {
      line.end();
      print_operation(session, stepped->operation);
      return exit_of(stepped->operation);
    }
    if (!stepped) session.note(stepped.error().message + "; trying again");
    const Duration rest = stepped ? stepped->rest : Duration{std::chrono::seconds{1}};
    if (session.adapters().interruption->wait_for(rest)) {
      line.end();
      (void)runner.release(id);
      session.note("detached; a running daemon goes on with it, and so does `sluice op watch " + id.to_string() + "`");
      return Exit::interrupted;
    }
  }
}

}  // namespace sluice::cli
