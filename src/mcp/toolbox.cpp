#include "mcp/toolbox.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "mcp/harmless.hpp"
#include "ops/arguments.hpp"

namespace sluice::mcp {
namespace {

std::string to_json(const Tool& tool) {
  const Annotations& hints = tool.annotations;
  const std::string annotations = JsonObject{}
                                      .text("title", tool.title)
                                      .boolean("readOnlyHint", hints.read_only)
                                      .boolean("destructiveHint", hints.destructive)
                                      .boolean("idempotentHint", hints.idempotent)
                                      .boolean("openWorldHint", hints.open_world)
                                      .str();
  return JsonObject{}
      .text("name", tool.name)
      .text("title", tool.title)
      .text("description", tool.description)
      .raw("inputSchema", ops::input_schema(tool.parameters))
      .raw("outputSchema", tool.output_schema)
      .raw("annotations", annotations)
      .str();
}

std::string text_content(std::string_view text) { return JsonObject{}.text("type", "text").text("text", text).str(); }

// A conforming structuredContent is promised only for success, so an error is told as text alone.
std::string answer(const Result<std::string>& outcome) {
  if (!outcome) {
    const std::string text = harmless_json(ops::to_json(outcome.error()));
    return JsonObject{}.array("content", {text_content(text)}).boolean("isError", true).str();
  }
  const std::string json = harmless_json(*outcome);
  return JsonObject{}
      .array("content", {text_content(json)})
      .raw("structuredContent", json)
      .boolean("isError", false)
      .str();
}

}  // namespace

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> all = [] {
    std::vector<Tool> tools;
    for (const auto& group : {dead_letter_tools, replay_tools, event_tools, plan_tools, status_tools}) {
      for (Tool& tool : group()) tools.push_back(std::move(tool));
    }
    return tools;
  }();
  return all;
}

Toolbox::Toolbox(Context& context) : context_(context) {}

bool Toolbox::offers(const Tool& tool) const {
  return tool.annotations.read_only || !context_.allowance.limits().read_only;
}

std::string Toolbox::list() const {
  std::vector<std::string> tools;
  for (const Tool& tool : all_tools()) {
    if (offers(tool)) tools.push_back(to_json(tool));
  }
  return json_array(tools);
}

std::optional<std::string> Toolbox::call(const Request& request) const {
  const auto& tools = all_tools();
  const auto tool = std::find_if(tools.begin(), tools.end(), [&](const Tool& one) { return one.name == request.name; });
  if (tool == tools.end()) return std::nullopt;
  return answer(run(*tool, request));
}

Result<std::string> Toolbox::run(const Tool& tool, const Request& request) const {
  if (!offers(tool)) {
    return Error{ErrorCode::forbidden, Retry::never,
                 std::string{tool.name} + " changes something, and this server is read-only", "",
                 "tell the operator what you would do; `sluice mcp` without --read-only allows it"};
  }
  SLUICE_TRY(const auto arguments, Arguments::read(tool.parameters, request.arguments));
  return tool.run({context_, arguments, request.actor});
}

}  // namespace sluice::mcp
