#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "telemetry/metrics_set.hpp"

namespace sluice::telemetry {
namespace {

double resident_memory() {
  std::ifstream statm{"/proc/self/statm"};
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code failure;
  double count = 0;
  for (auto entry = std::filesystem::directory_iterator{"/proc/self/fd", failure};
       !failure && entry != std::filesystem::directory_iterator{}; entry.increment(failure)) {
    ++count;
  }
  return count;
}

}  // namespace

void ProcessMetrics::sample() {
  resident_bytes->set(resident_memory());
  open_descriptors->set(open_files());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) most_descriptors->set(static_cast<double>(limit.rlim_cur));
}

}  // namespace sluice::telemetry
