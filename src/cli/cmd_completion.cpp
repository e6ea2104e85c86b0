// sluice completion, and the hidden `sluice man`: what is generated from the command table.
#include <ostream>

#include "cli/completion.hpp"
#include "cli/man_page.hpp"
#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"

namespace sluice::cli {
namespace {

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
