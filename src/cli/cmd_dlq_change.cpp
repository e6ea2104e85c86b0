// sluice dlq plan, replay, discard, restore, ack: change dead letters, one or many. Many are an operation: a set that
// is locked in, confirmed by its number and carried out in steps.
#include <ostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/contract_files.hpp"
#include "cli/flags.hpp"
#include "cli/follow_operation.hpp"
#include "cli/publish_flags.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_change.hpp"
#include "ops/operations.hpp"
#include "ops/replay_preview.hpp"

namespace sluice::cli {
namespace {

constexpr int kStopPercent = 20;
constexpr std::int64_t kMost = 10'000'000;

struct Change {
  ops::BulkRequest bulk;
  std::vector<std::string> ids;        ///< as they were given, whole or not
  std::optional<std::string> handler;  ///< of one event: this handler alone
  std::optional<std::string> data;     ///< of one event: with this payload
  ops::NewSettings settings;           ///< as far as they are given
  std::optional<std::string> plan;     ///< start this one instead; its id, whole or not
  std::optional<ops::ContractSet> contracts;

  [[nodiscard]] const ops::ContractSet* contract_set() const { return contracts ? &*contracts : nullptr; }
};

Result<void> take_setting(const Arguments& arguments, std::string_view flag, std::optional<int>& into) {
  if (!arguments.value(flag)) return {};
  SLUICE_TRY(into, number_of(arguments, {flag}));
  return {};
}

Result<ops::NewSettings> settings_of(const Arguments& arguments) {
  ops::NewSettings settings;
  SLUICE_CHECK(take_setting(arguments, "--rate", settings.rate));
  SLUICE_CHECK(take_setting(arguments, "--canary", settings.canary));
  SLUICE_CHECK(take_setting(arguments, "--stop-percent", settings.stop_percent));
  return settings;
}

// What needs no store, so that a typo costs no connection.
Result<Change> change_of(const Arguments& arguments, OperationKind kind) {
  Change request;
  request.bulk.kind = kind;
  request.bulk.most = kMost;
  for (const std::string& text : arguments.positionals) {
    SLUICE_CHECK(ops::id_digits(text, "ID"));
    request.ids.push_back(text);
  }
  SLUICE_TRY(request.bulk.query, query_of(arguments));
  if (const auto text = arguments.value("--plan")) {
    SLUICE_CHECK(ops::check_operation_id(*text, "--plan"));
    request.plan = *text;
  }
  if (const auto text = arguments.value("--to-generation")) {
    SLUICE_TRY(request.bulk.to_generation, parse_generation(*text, "--to-generation"));
  }
  SLUICE_TRY(request.settings, settings_of(arguments));
  request.bulk.settings = ops::changed({0, 0, kStopPercent}, request.settings);
  SLUICE_CHECK(ops::check_settings(request.bulk.settings));
  if (const auto folder = arguments.value("--contracts")) {
    SLUICE_TRY(auto files, read_contract_files(*folder, "--contracts"));
    SLUICE_TRY(request.contracts, ops::ContractSet::read(files));
  }
  request.handler = arguments.value("--handler");
  request.data = arguments.value("--data");
  if ((request.handler || request.data) && request.ids.size() != 1) {
    return invalid(request.handler ? "--handler" : "--data", "--handler and --data are for one event: give its id");
  }
  if (request.handler && request.data) {
    return invalid("--data", "another payload is for every handler: leave out --handler");
  }
  const int ways = (request.ids.empty() ? 0 : 1) + (request.bulk.query.empty() ? 0 : 1) + (request.plan ? 1 : 0);
  if (ways > 1) return invalid("--filter", "give event ids, a filter or --plan, not several of them");
  if (ways == 0 && !arguments.has("--all")) {
    return invalid("--filter",
                   "say which events: ids, --filter (or --type, --class, …), or --all for every dead letter");
  }
  return request;
}

// Short ids are looked up.
Result<void> find_ids(Change& request, store::Administering& store) {
  for (const std::string& text : request.ids) {
    SLUICE_TRY(const auto id, ops::whole_id(store, text, "ID"));
    request.bulk.event_ids.push_back(id);
  }
  return {};
}

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
    handlers.print(session.console());
    out << '\n';
  }
  Table sample{"EXAMPLE", "TYPE", "WHAT WOULD HAPPEN", "WHY"};
  for (const auto& one : preview.sample) {
    std::string why = one.why;
    for (const std::string& handler : one.handled) why += (why.empty() ? "handled by " : ", ") + handler;
    sample.row({one.event_id.to_string(), one.event_type, std::string{name(one.verdict)}, why});
  }
  sample.print(session.console());
  out << '\n';
}

std::string verb_of(OperationKind kind) { return std::string{name(kind)}; }

std::string question(const store::OperationRecord& operation) {
  std::string text = verb_of(operation.progress.kind) + ' ' + counted(operation.progress.counts.total, "event");
  if (operation.to_generation) text += " into generation " + std::to_string(*operation.to_generation);
  return text;
}

void tell(const Session& session, const std::vector<ops::Overlap>& overlaps) {
  for (const ops::Overlap& overlap : overlaps) session.note(ops::in_words(overlap));
}

void print_plan(const Session& session, const ops::BulkPlan& plan) {
  if (session.format() != Format::table) {
    session.out() << ops::to_json(plan) << '\n';
    return;
  }
  if (plan.preview) show_preview(session, *plan.preview, plan.operation.progress.counts.total);
  tell(session, plan.overlaps);
  session.out() << "plan " << plan.operation.id.to_string() << ": " << question(plan.operation) << ", valid until "
                << clock_text(plan.operation.expires_at) << '\n';
}

Exit nothing_to_do(const Session& session) {
  session.note("nothing to do: no dead letter matches");
  if (session.format() != Format::table) session.out() << JsonObject{}.number("total", 0).str() << '\n';
  return Exit::ok;
}

Result<Exit> start_and_follow(Session& session, const Session::Opened& opened, const store::OperationRecord& planned,
                              const ops::NewSettings& settings) {
  SLUICE_TRY(
      const auto started,
      ops::start_operation(*opened.store, {planned.id, planned.progress.counts.total, settings, planned.progress.kind},
                           session.actor(opened.config)));
  session.detail("operation " + planned.id.to_string() + " started");
  if (!session.arguments().has("--detach")) return follow_operation(session, opened, planned.id);
  print_operation(session, started);
  session.note("a running daemon carries it out; `sluice op watch " + planned.id.to_string() + "` shows it");
  return Exit::ok;
}

Result<bool> agree(const Session& session, const store::OperationRecord& planned) {
  return confirm_many(session, question(planned), planned.progress.counts.total);
}

Result<Exit> dry_run(Session& session, const Session::Opened& opened, const Change& request) {
  SLUICE_TRY(const auto forecast, ops::forecast_bulk(*opened.store, request.bulk, session.actor(opened.config),
                                                     session.adapters().entropy, request.contract_set()));
  if (forecast.count == 0) return nothing_to_do(session);
  if (session.format() != Format::table) {
    session.out() << ops::to_json(forecast, request.bulk.kind) << '\n';
  } else {
    if (forecast.preview) show_preview(session, *forecast.preview, forecast.count);
    session.out() << forecast.count << '\n';
  }
  tell(session, forecast.overlaps);
  session.note("dry run: would " + verb_of(request.bulk.kind) + ' ' + counted(forecast.count, "event"));
  return Exit::ok;
}

Result<store::ReplayReport> replay_one(Session& session, const Session::Opened& opened, const Change& request,
                                       const store::Actor& actor) {
  const Uuid& id = request.bulk.event_ids.front();
  const auto& generation = request.bulk.to_generation;
  const auto exporting = session.exporting(opened.config);
  Tracer* tracer = tracer_of(exporting);
  if (request.handler) return ops::replay_to_handler(*opened.store, {id, *request.handler, generation}, actor, tracer);
  if (!request.data) return ops::replay_event(*opened.store, id, generation, actor, tracer);
  const std::size_t most = opened.config.payload_max_bytes;
  SLUICE_TRY(auto payload,
             read_payload(*request.data, session.console(), !session.arguments().has("--no-input"), most));
  return ops::replay_edited(*opened.store, {opened.config.edit_replay, {.payload_bytes = most}},
                            {id, std::move(payload), generation, request.contract_set()}, actor, tracer);
}

Result<Exit> change_one(Session& session, const Session::Opened& opened, const Change& request) {
  const Uuid& id = request.bulk.event_ids.front();
  const std::string how = request.handler ? " to " + *request.handler : request.data ? " with another payload" : "";
  SLUICE_TRY(const auto agreed, confirm(session, verb_of(request.bulk.kind) + " event " + id.to_string() + how));
  if (!agreed) return declined(session);
  const store::Actor actor = session.actor(opened.config);
  if (request.bulk.kind == OperationKind::replay) {
    SLUICE_TRY(const auto report, replay_one(session, opened, request, actor));
    if (session.format() == Format::table) {
      session.out() << id.to_string() << " is pending in generation " << report.to_generation << ", replay "
                    << report.cycle << '\n';
    } else {
      session.out() << ops::to_json(report) << '\n';
    }
    return Exit::ok;
  }
  const bool discard = request.bulk.kind == OperationKind::discard;
  SLUICE_CHECK(discard ? ops::discard_event(*opened.store, id, actor) : ops::restore_event(*opened.store, id, actor));
  if (session.format() == Format::table) {
    SLUICE_TRY(const auto event, ops::find_event(*opened.store, id));
    session.out() << id.to_string() << ' ' << (discard ? "is discarded" : restored_words(event)) << '\n';
  } else {
    session.out() << ops::discarded_json(id, discard) << '\n';
  }
  return Exit::ok;
}

Result<Exit> change_many(Session& session, const Session::Opened& opened, const Change& request) {
  SLUICE_TRY(const auto plan, ops::plan_bulk(*opened.store, request.bulk, session.actor(opened.config),
                                             session.adapters().entropy, request.contract_set()));
  if (plan.operation.progress.counts.total == 0) return nothing_to_do(session);
  if (plan.preview) session.note(ops::in_words(*plan.preview));
  tell(session, plan.overlaps);
  SLUICE_TRY(const auto agreed, agree(session, plan.operation));
  if (!agreed) {
    // Nobody knows of this plan but this command.
    SLUICE_CHECK(ops::steer_operation(*opened.store, plan.operation.id, {store::OperationChange::What::cancel, 0},
                                      session.actor(opened.config)));
    return declined(session);
  }
  return start_and_follow(session, opened, plan.operation, request.settings);
}

Result<Exit> start_plan(Session& session, const Session::Opened& opened, const Change& request) {
  SLUICE_TRY(const auto plan, ops::whole_operation_id(*opened.store, *request.plan, "--plan"));
  SLUICE_TRY(const auto planned, ops::find_plan(*opened.store, plan, request.bulk.kind));
  SLUICE_TRY(const auto overlaps, ops::overlaps_of(*opened.store, planned));
  tell(session, overlaps);
  if (session.dry_run()) {
    print_operation(session, planned);
    session.note("dry run: would " + question(planned));
    return Exit::ok;
  }
  SLUICE_TRY(const auto agreed, agree(session, planned));
  if (!agreed) return declined(session);
  return start_and_follow(session, opened, planned, request.settings);
}

Result<Exit> change(Session& session, OperationKind kind) {
  SLUICE_TRY(auto request, change_of(session.arguments(), kind));
  SLUICE_CHECK(check_reason(session));
  SLUICE_CHECK(check_answerable(session, verb_of(kind) + " them"));
  session.adapters().interruption->arm();
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_CHECK(find_ids(request, *opened.store));
  if (request.plan) return start_plan(session, opened, request);
  if (session.dry_run()) return dry_run(session, opened, request);
  if (request.bulk.event_ids.size() == 1) return change_one(session, opened, request);
  return change_many(session, opened, request);
}

Result<Exit> replay(Session& session) { return change(session, OperationKind::replay); }
Result<Exit> discard(Session& session) { return change(session, OperationKind::discard); }
Result<Exit> restore(Session& session) { return change(session, OperationKind::restore); }

Result<Exit> plan(Session& session) {
  SLUICE_TRY(auto request, change_of(session.arguments(), OperationKind::replay));
  SLUICE_TRY(const auto opened, session.open_existing());
  SLUICE_CHECK(find_ids(request, *opened.store));
  SLUICE_TRY(const auto planned, ops::plan_bulk(*opened.store, request.bulk, session.actor(opened.config),
                                                session.adapters().entropy, request.contract_set()));
  if (planned.operation.progress.counts.total == 0) return nothing_to_do(session);
  print_plan(session, planned);
  session.note("nothing has changed yet; start it with `sluice dlq replay --plan " + planned.operation.id.to_string() +
               " --reason TEXT`");
  return Exit::ok;
}

std::vector<Option> which() { return combined(filter_flags(), {{"--all", "", "", "every dead letter"}}); }

std::vector<Option> pace() {
  return {{"--rate", "", "N", "at most this many events per second; default: as fast as they are delivered"},
          {"--canary", "", "N", "replay this many first, and the rest only when they went well; default 0"},
          {"--stop-percent", "", "N", "stop when more than this share fails again; default 20"}};
}

std::vector<Option> target() {
  return {{"--to-generation", "", "N", "the generation that gets the events; default: the newest live one"},
          {"--contracts", "", "DIR", "check payloads against the contracts in this folder"}};
}

std::vector<Option> one_event() {
  return {{"--handler", "", "NAME", "of one event: run this handler alone; the others stay as they are"},
          {"--data", "", "JSON|@FILE|-",
           "of one event: with this payload instead; needs edit_replay in the configuration"}};
}

std::vector<Option> start_flags() {
  return {{"--plan", "", "TOKEN", "start the plan that `dlq plan` made"},
          {"--detach", "", "", "start it and leave it to a running daemon"},
          actor_flag(),
          required_reason_flag()};
}

const std::vector<Positional> kIds{{"ID", "event ids, or their first 8 digits or more", false, {}, true}};

Result<Exit> ack(Session& session) {
  SLUICE_CHECK(check_reason(session));
  const std::string& fingerprint = session.arguments().positionals.front();
  const bool known = !session.arguments().has("--undo");
  SLUICE_TRY(const auto opened, session.open_existing());
  if (session.dry_run()) {
    SLUICE_TRY(const auto groups, ops::preview_acknowledge(*opened.store, fingerprint));
    session.out() << groups.size() << '\n';
    session.note("dry run: " + counted(static_cast<std::int64_t>(groups.size()), "group") + " with dead letters");
    return Exit::ok;
  }
  SLUICE_TRY(const auto done, ops::acknowledge(*opened.store, fingerprint, known, session.actor(opened.config)));
  if (session.format() == Format::table) {
    session.out() << counted(done.groups, "group") << (known ? " acknowledged" : " open again") << '\n';
  } else {
    session.out() << ops::to_json(done) << '\n';
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> dlq_change_commands() {
  return {
      {{"dlq", "plan"},
       "freeze a set of dead letters and say what a replay would do to each; changes no event",
       {{"sluice dlq plan --class timeout --since 2h", "prints a token for `dlq replay --plan`"}},
       kIds,
       combined(combined(which(), target()), combined(pace(), {actor_flag(), reason_flag()})),
       false,
       false,
       plan},
      {{"dlq", "replay"},
       "replay dead letters in place: one by id, many as an operation that is followed to its end",
       {{"sluice dlq replay 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'upstream is back' --yes", ""},
        {"sluice dlq replay --class timeout --dry-run", "what would happen to each"},
        {"sluice dlq replay 0196b2f1 --handler billing.invoices --reason 'receiver is fixed' --yes", "to one handler"},
        {"sluice dlq replay --class timeout --canary 10 --rate 50 --reason 'upstream is back'", ""}},
       kIds,
       combined(combined(which(), combined(one_event(), target())), combined(pace(), start_flags())),
       true,
       false,
       replay},
      {{"dlq", "discard"},
       "discard dead letters: they are kept until retention removes them",
       {{"sluice dlq discard 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'order was cancelled' --yes", ""},
        {"sluice dlq discard --fingerprint 5f1c0a9be2d47c33 --reason 'bad import' --dry-run", ""}},
       kIds,
       combined(which(), {actor_flag(), required_reason_flag()}),
       true,
       false,
       discard},
      {{"dlq", "restore"},
       "undo a discard: the events are dead letters again",
       {{"sluice dlq restore 0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e --reason 'discarded by mistake' --yes", ""}},
       kIds,
       combined(which(), {actor_flag(), required_reason_flag()}),
       true,
       false,
       restore},
  };
}

Command dlq_ack_command() {
  return {{"dlq", "ack"},
          "acknowledge a group of failures: it needs no review until it comes back",
          {{"sluice dlq ack 5f1c0a9be2d47c33 --reason 'fix is in generation 43'", ""},
           {"sluice dlq ack 5f1c0a9be2d47c33 --undo --reason 'not fixed after all'", ""}},
          {{"FINGERPRINT", "as `dlq groups` shows it, or its beginning"}},
          {{"--undo", "", "", "take the acknowledgement back"}, actor_flag(), required_reason_flag()},
          true,
          false,
          ack};
}

}  // namespace sluice::cli
