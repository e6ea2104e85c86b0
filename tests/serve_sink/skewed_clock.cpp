// For LD_PRELOAD: a process whose system clock is wrong, as a machine's may be. The monotonic clock is right.
#include <dlfcn.h>

#include <cstdlib>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  static const char* const seconds = std::getenv("SKEW_SECONDS");
  const int done = real(clock, time);
  if (done == 0 && clock == CLOCK_REALTIME && seconds != nullptr) time->tv_sec += std::atol(seconds);
  return done;
}
