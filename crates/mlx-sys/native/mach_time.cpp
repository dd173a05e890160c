// mlx-rs seeds its random state from `mach_approximate_time`, which only Apple's systems have.

#ifndef __APPLE__

#include <cstdint>
#include <ctime>

extern "C" uint64_t mach_approximate_time(void) {
  // The only use is a seed, which should differ from one run to the next also after a reboot: hence not the time since
  // boot that Apple's function tells, but the time of day, in nanoseconds.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

#endif
