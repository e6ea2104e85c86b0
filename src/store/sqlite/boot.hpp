// Which start of this machine it is.
#pragma once

#include <cstdint>

namespace sluice::store::sqlite {

/// Another number after every start of the machine, never 0; always the same where that cannot be told.
std::int64_t this_boot();

}  // namespace sluice::store::sqlite
