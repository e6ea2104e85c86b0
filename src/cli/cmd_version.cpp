// sluice version and sluice completion.
#include <ostream>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"
#include "core/json_object.hpp"

namespace sluice::cli {
namespace {

Result<Exit> version(Session& session) {
  if (session.format() == Format::table) {
    session.out() << "sluice " << kVersion << " (" << kBuildType << ", " << kCompiler << ")\n";
  } else {
    session.out()
        << JsonObject{}.text("version", kVersion).text("build_type", kBuildType).text("compiler", kCompiler).str()
        << '\n';
  }
  return Exit::ok;
}

Result<Exit> completion(Session& session) {
  const std::string& shell = session.arguments().positionals.front();
  session.out() << (shell == "bash" ? bash_completion() : shell == "zsh" ? zsh_completion() : fish_completion());
  return Exit::ok;
}

Result<Exit> man(Session& session) {
  session.out() << man_page(kVersion);
  return Exit::ok;
}

}  // namespace

std::vector<Command> version_commands() {
  return {{{"version"},
           "print the version and how it was built",
           {{"sluice version -o json", ""}},
           {},
           {},
           false,
           false,
           version}};
}

std::vector<Command> completion_commands() {
  return {
      {{"completion"},
       "print a completion script for bash, zsh or fish",
       {{"source <(sluice completion bash)", ""}, {"sluice completion fish | source", ""}},
       {{"SHELL", "bash, zsh or fish", true, {"bash", "zsh", "fish"}}},
       {},
       false,
       false,
       completion},
      {{"man"}, "print the manual page in roff", {{"sluice man | man -l -", ""}}, {}, {}, false, true, man},
  };
}

}  // namespace sluice::cli
