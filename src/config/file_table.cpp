#include "config/file_table.hpp"

#include <algorithm>
#include <string_view>

namespace sluice::config {
namespace {

bool is_bare(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::string FileTable::path() const { return section + '.' + (is_bare(name) ? name : '"' + name + '"'); }

}  // namespace sluice::config
