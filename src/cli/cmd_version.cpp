// sluice version: which build this is.
#include <ostream>

#include "cli/noun.hpp"
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

}  // namespace sluice::cli
