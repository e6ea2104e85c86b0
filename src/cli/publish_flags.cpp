#include "cli/publish_flags.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <ostream>
#include <system_error>
#include <utility>

#include "telemetry/log.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kDefaultSource = "cli";

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kFlagOfField{{
    {"event_type", "TYPE"},
    {"event_id", "--id"},
    {"event_version", "--event-version"},
    {"payload", "--data"},
    {"source", "--source"},
    {"target", "--target"},
    {"idempotency_key", "--idempotency-key"},
    {"ordering_key", "--key"},
    {"trace_context", "--traceparent"},
    {"content_class", "--content-class"},
    {"generation", "--generation"},
}};

// Parses the flag, if it is given, into the request.
template <class Parse, class Into>
Result<void> take(const Arguments& arguments, std::string_view flag, Parse parse, Into& into) {
  const auto text = arguments.value(flag);
  if (!text) return {};
  auto parsed = parse(*text, flag);
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.field = flag;
    if (error.message.find(flag) == std::string::npos) error.message = std::string{flag} + ": " + error.message;
    return error;
  }
  into = *std::move(parsed);
  return {};
}

Result<int> parse_version(std::string_view text, std::string_view flag) {
  int version = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (problem != std::errc{} || stop != text.data() + text.size() || version < 1) {
    return invalid(std::string{flag}, std::string{flag} + " must be a whole number of at least 1");
  }
  return version;
}

Result<std::string> as_is(std::string_view text, std::string_view /*flag*/) { return std::string{text}; }

Result<std::string> read_bounded(std::istream& in, std::size_t limit) {
  std::string text;
  std::array<char, std::size_t{16} * 1024> chunk{};
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit) {
      Error error = invalid("--data", "--data: the payload exceeds " + std::to_string(limit) + " bytes");
      error.hint = "payload_max_bytes sets the limit";
      return error;
    }
  }
  return text;
}

telemetry::LogFormat format(const Session& session, config::LogFormat wanted) {
  const bool text =
      wanted == config::LogFormat::text || (wanted == config::LogFormat::automatic && session.console().out_is_tty);
  return text ? telemetry::LogFormat::human : telemetry::LogFormat::json;
}

}  // namespace

std::vector<Option> publish_options() {
  return {
      {"--data", "", "JSON|@FILE|-", "the payload: a JSON object, a file, or standard input; default {}"},
      {"--source", "", "CONTEXT", "producing context; default cli"},
      {"--target", "", "CONTEXT", "receiving context; default: broadcast"},
      {"--key", "", "TEXT", "ordering key: strict order among events of one key"},
      {"--idempotency-key", "", "TEXT", "what handlers deduplicate by; default: the id"},
      {"--workspace", "", "UUID", "workspace the event belongs to"},
      {"--after", "", "DURATION", "deliver no sooner than this long from now: 30s, 10m, 2h; a bare number is seconds"},
      {"--at", "", "TIME", "deliver no sooner than this: 2026-04-25T01:43:02Z"},
      {"--id", "", "UUID", "event id; default: a new one. Publishing an id twice stores it once"},
      {"--class", "", "NAME", "processing class: the channel becomes outbox_gen_N_NAME"},
      {"--content-class", "", "NAME", "content class; default default"},
      {"--event-version", "", "N", "version of the payload's shape; default 1"},
      {"--traceparent", "", "TEXT", "W3C traceparent to continue"},
      {"--wait", "", "", "wait until it is delivered or failed; exit 1 if failed, 8 on timeout"},
      {"--timeout", "", "DURATION", "how long --wait waits; default 30s"},
  };
}

Result<ops::PublishRequest> publish_request(const Arguments& arguments) {
  ops::PublishRequest request;
  request.event_type = arguments.positionals.front();
  request.source = arguments.value("--source").value_or(std::string{kDefaultSource});
  if (arguments.value("--after") && arguments.value("--at")) {
    return invalid("--after", "--after and --at exclude each other; give one of them");
  }
  for (const auto& taken : {
           take(arguments, "--target", as_is, request.target),
           take(arguments, "--key", as_is, request.ordering_key),
           take(arguments, "--idempotency-key", as_is, request.idempotency_key),
           take(arguments, "--traceparent", as_is, request.trace_context),
           take(arguments, "--class", as_is, request.processing_class),
           take(arguments, "--content-class", as_is, request.content_class),
           take(arguments, "--workspace", Uuid::parse, request.workspace_id),
           take(arguments, "--id", Uuid::parse, request.id),
           take(arguments, "--after", parse_duration, request.delay),
           take(arguments, "--at", parse_iso8601, request.not_before),
           take(arguments, "--event-version", parse_version, request.event_version),
       }) {
    if (!taken) return taken.error();
  }
  return request;
}

Error in_terms_of_flags(Error error) {
  for (const auto& [field, flag] : kFlagOfField) {
    if (error.field != field) continue;
    error.field = flag;
    error.message = std::string{flag} + ": " + error.message;
    break;
  }
  return error;
}

Result<std::string> read_payload(const std::string& data, Console& console, bool may_read_terminal, std::size_t limit) {
  if (data == "-") {
    if (console.in_is_tty && !may_read_terminal) {
      return invalid("--data", "--data - reads standard input, which is a terminal, and --no-input is given");
    }
    return read_bounded(console.in, limit);
  }
  if (!data.starts_with('@')) return data;
  const std::string path = data.substr(1);
  const auto unreadable = [&path](const std::string& why) {
    return invalid("--data", "--data: the file " + path + " cannot be read: " + why);
  };
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return unreadable("it is a directory");
  errno = 0;
  std::ifstream file{path, std::ios::binary};
  if (!file) return unreadable(std::strerror(errno));
  return read_bounded(file, limit);
}

void log_published(const Session& session, const config::Config& config, const ops::Published& published) {
  if (!session.arguments().has("--verbose")) return;
  std::ostream& err = session.console().err;
  telemetry::LogOptions options;
  options.format = format(session, config.log.format);
  options.clock = session.adapters().entropy.clock;
  const EventEnvelope& event = published.event.envelope;
  const telemetry::Logger logger{[&err](std::string_view line) { err << line; },
                                 std::move(options),
                                 {config.service, config.environment, published.event.generation, std::nullopt}};
  telemetry::log_published(logger, event, published.outcome == store::PublishOutcome::published);
}

}  // namespace sluice::cli
