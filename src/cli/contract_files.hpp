// Directories of schema files, for `sluice contract`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sluice/payload.hpp>
#include <sluice/result.hpp>

namespace sluice::cli {

/// The *.json files directly in the directory, by name. `flag` names the directory in errors; one
/// that does not exist is not_found.
Result<std::vector<ContractFile>> read_contract_files(const std::string& directory, std::string_view flag);

/// Makes the directory where it is missing. Every text is written beside its place first and moved
/// there only when all are on disk, so that a full disk leaves the directory as it was.
Result<void> write_contract_files(const std::string& directory, const std::vector<ContractFile>& files);

}  // namespace sluice::cli
