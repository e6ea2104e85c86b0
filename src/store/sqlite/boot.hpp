// Which start of this machine it is.
#pragma once

#include <cstdint>

namespace sluice::store::sqlite {

/// Another number after every start of the machine; 0 where that cannot be told.
std::int64_t this_boot();

}  // namespace sluice::store::sqlite
