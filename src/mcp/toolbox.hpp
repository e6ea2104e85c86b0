// The tools as the protocol offers them: the list, and a call by name. Knows no revision of the protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.hpp"

namespace sluice::mcp {

class Toolbox {
 public:
  /// Without the tools that change something where the allowance is read-only.
  explicit Toolbox(Context& context);

  /// `[{"name":…},…]`
  [[nodiscard]] std::string list() const;

  struct Request {
    std::string name;
    std::string_view arguments;  ///< JSON text of an object; empty: none
    std::string actor;
  };
  /// `{"content":[…],"structuredContent":{…},"isError":false}`; none when there is no such tool.
  [[nodiscard]] std::optional<std::string> call(const Request& request) const;

 private:
  [[nodiscard]] bool offers(const Tool& tool) const;
  [[nodiscard]] Result<std::string> run(const Tool& tool, const Request& request) const;

  Context& context_;
};

}  // namespace sluice::mcp
