#include "cli/show_preview.hpp"

#include <ostream>

#include "cli/table.hpp"
#include "core/words.hpp"

namespace sluice::cli {

void show_preview(const Session& session, const ops::ReplayPreview& preview, std::int64_t total) {
  std::ostream& out = session.out();
  out << ops::in_words(preview) << " in generation " << preview.generation;
  if (preview.examined < total) out << " (of the first " << counted(preview.examined, "event") << ')';
  out << "\n\n";
  Table handlers{"HANDLER", "WILL RUN", "ALREADY HANDLED", "LIVE WORKER"};
  for (const auto& [name, counts] : preview.handlers) {
    handlers.row({name, std::to_string(counts.will_run), std::to_string(counts.handled), counts.live ? "yes" : "no"});
  }
  if (!handlers.empty()) {
    handlers.print(out, session.console().color);
    out << '\n';
  }
  Table sample{"EXAMPLE", "TYPE", "WHAT WOULD HAPPEN", "WHY"};
  for (const auto& one : preview.sample) {
    std::string why = one.why;
    for (const std::string& handler : one.handled) why += (why.empty() ? "handled by " : ", ") + handler;
    sample.row({one.event_id.to_string(), one.event_type, std::string{name(one.verdict)}, why});
  }
  sample.print(out, session.console().color);
  out << '\n';
}

}  // namespace sluice::cli
