// What the commands that change a generation have in common: its number in, its new state out.
#pragma once

#include "cli/parse.hpp"
#include "cli/session.hpp"

namespace sluice::cli {

/// The positional N.
Result<Generation> generation_argument(const Arguments& arguments);

void print_change(const Session& session, const store::Deployment& deployment);
/// Of a generation that was there already.
void print_unchanged(const Session& session, const store::Deployment& deployment);
/// Of a dry run.
void print_plan(const Session& session, Generation generation, GenerationState state);

}  // namespace sluice::cli
