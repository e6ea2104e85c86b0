#include "cli/contract_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/try.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1024} * 1024;

Error unreadable(std::string_view flag, const fs::path& path, const std::string& why) {
  const std::string name{flag};
  return invalid(name, name + ": " + path.string() + " cannot be read: " + why);
}

Error unwritable(const fs::path& path, const std::string& why) {
  return {ErrorCode::internal, Retry::safe, path.string() + " cannot be written: " + why, "",
          "no snapshot was changed"};
}

Result<std::string> read_file(const fs::path& path, std::string_view flag) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  if (problem) return unreadable(flag, path, problem.message());
  if (size > kMaxBytes) return unreadable(flag, path, "a schema has at most 1 MiB");
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    return unreadable(flag, path, errno != 0 ? std::strerror(errno) : "it changed meanwhile");
  }
  return text;
}

// The files that are written but not in their place yet; what was not placed is removed again.
class Staging {
 public:
  explicit Staging(fs::path directory) : directory_(std::move(directory)) {}
  ~Staging() {
    std::error_code ignored;
    for (const auto& [staged, place] : files_) fs::remove(staged, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Result<void> add(const ContractFile& file) {
    const fs::path staged = directory_ / ('.' + file.file_name + ".new");
    errno = 0;
    std::ofstream out{staged, std::ios::binary | std::ios::trunc};
    if (out) files_.emplace_back(staged, directory_ / file.file_name);
    out << file.text << std::flush;
    if (!out) return unwritable(staged, errno != 0 ? std::strerror(errno) : "the disk refused it");
    return {};
  }

  Result<void> place_all() {
    while (!files_.empty()) {
      std::error_code problem;
      fs::rename(files_.back().first, files_.back().second, problem);
      if (problem) {
        Error error = unwritable(files_.back().second, problem.message());
        error.hint = "run the command again: it writes what is missing";
        return error;
      }
      files_.pop_back();
    }
    return {};
  }

 private:
  fs::path directory_;
  std::vector<std::pair<fs::path, fs::path>> files_;
};

}  // namespace

Result<std::vector<ContractFile>> read_contract_files(const std::string& directory, std::string_view flag) {
  std::error_code problem;
  fs::directory_iterator at{directory, problem};
  if (problem == std::errc::no_such_file_or_directory) {
    const std::string name{flag};
    return Error{ErrorCode::not_found, Retry::never, name + ": the directory " + directory + " does not exist", name,
                 ""};
  }
  if (problem) return unreadable(flag, directory, problem.message());
  std::vector<ContractFile> files;
  for (; at != fs::directory_iterator{}; at.increment(problem)) {
    const fs::path path = at->path();
    if (path.extension() != ".json" || path.filename().string().starts_with('.')) continue;
    SLUICE_TRY(auto text, read_file(path, flag));
    files.push_back({path.filename().string(), std::move(text)});
  }
  if (problem) return unreadable(flag, directory, problem.message());
  std::sort(files.begin(), files.end(),
            [](const ContractFile& a, const ContractFile& b) { return a.file_name < b.file_name; });
  return files;
}

Result<void> write_contract_files(const std::string& directory, const std::vector<ContractFile>& files) {
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (problem) return unwritable(directory, problem.message());
  Staging staging{directory};
  for (const ContractFile& file : files) {
    SLUICE_CHECK(staging.add(file));
  }
  return staging.place_all();
}

}  // namespace sluice::cli
