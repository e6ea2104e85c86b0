// One function per noun: the rows that its file adds to the command table.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace sluice::cli {

std::vector<Command> serve_commands();
std::vector<Command> publish_commands();
std::vector<Command> event_commands();
std::vector<Command> tail_commands();
std::vector<Command> dlq_commands();
std::vector<Command> dlq_change_commands();
std::vector<Command> op_commands();
std::vector<Command> audit_commands();
std::vector<Command> generation_commands();
std::vector<Command> subscription_commands();
std::vector<Command> worker_commands();
std::vector<Command> sink_commands();
std::vector<Command> status_commands();
std::vector<Command> doctor_commands();
std::vector<Command> check_commands();
std::vector<Command> retention_commands();
std::vector<Command> alert_commands();
std::vector<Command> contract_commands();
std::vector<Command> mcp_commands();
std::vector<Command> db_commands();
std::vector<Command> config_commands();
std::vector<Command> completion_commands();
std::vector<Command> version_commands();

// Commands with a file of their own; the noun's function puts them in their place.
Command generation_retire_command();
Command generation_reroute_command();
Command db_doorbell_command();
Command dlq_ack_command();
Command dlq_export_command();

}  // namespace sluice::cli
