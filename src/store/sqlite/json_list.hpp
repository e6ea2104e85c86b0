// Lists of names as JSON text, the form in which SQLite takes and keeps them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

std::string json_list(const std::vector<std::string>& names);
/// None for an empty list, where that means "no filter".
std::optional<std::string> json_filter(const std::vector<std::string>& names);
/// The next column, written by json_list.
std::vector<std::string> read_list(Row& row);

}  // namespace sluice::store::sqlite
