#include "cli/run.hpp"

#include <algorithm>
#include <ostream>

#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "cli/report_error.hpp"
#include "cli/session.hpp"

namespace sluice::cli {
namespace {

// The words could not be parsed, yet the error must be in the format that was asked for.
Format wanted_format(const std::vector<std::string>& words) {
  const auto asks_json = [&](std::size_t at) {
    const std::string& word = words[at];
    const bool next = at + 1 < words.size() && words[at + 1].ends_with("json");
    return ((word == "-o" || word == "--output") && next) || word == "-ojson" || word == "-ondjson" ||
           word == "-o=json" || word == "--output=json" || word == "--output=ndjson";
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (asks_json(at)) return Format::json;
  }
  return Format::table;
}

Exit show_help(const HelpRequest& help, Console& console) {
  if (help.asked) {
    console.out << help_text(help.words);
    return Exit::ok;
  }
  console.err << help_text(help.words);
  return Exit::usage;
}

config::Sources sources_of(const Invocation& invocation, const Arguments& arguments) {
  config::Sources sources{
      {}, invocation.environment, arguments.value("--config"), invocation.hostname, invocation.user};
  for (const Option& option : all_options(*arguments.command)) {
    if (option.config_key.empty()) continue;
    if (auto value = arguments.value(option.name)) sources.flags.emplace(option.config_key, *std::move(value));
  }
  return sources;
}

}  // namespace

Exit run(const Invocation& invocation, Console& console, const Adapters& adapters) {
  std::vector<std::string> words = invocation.words;
  if (words.size() == 1 && words.front() == "--version") words.front() = "version";
  const auto parsed = parse(words);
  if (!parsed) {
    report_error(console.err, parsed.error(), wanted_format(words));
    return exit_of(parsed.error());
  }
  if (parsed->help) return show_help(*parsed->help, console);

  const Arguments& arguments = parsed->arguments;
  const config::Sources sources = sources_of(invocation, arguments);
  Session session{arguments, sources, console, adapters};
  const auto ended = arguments.command->run(session);
  console.out.flush();
  if (!ended) {
    report_error(console.err, in_words_of(*arguments.command, ended.error()), session.format());
    return exit_of(ended.error());
  }
  if (!console.out) {
    report_error(console.err, {ErrorCode::exhausted, Retry::never, "the output could not be written", "", ""},
                 session.format());
    return Exit::failed;
  }
  return *ended;
}

}  // namespace sluice::cli
