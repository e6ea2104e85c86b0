// One function per noun: the rows that its file adds to the command table.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace sluice::cli {

std::vector<Command> serve_commands();
std::vector<Command> publish_commands();
std::vector<Command> event_commands();
std::vector<Command> generation_commands();
std::vector<Command> status_commands();
std::vector<Command> db_commands();
std::vector<Command> config_commands();
std::vector<Command> completion_commands();
std::vector<Command> version_commands();

}  // namespace sluice::cli
