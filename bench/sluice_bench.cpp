// sluice_bench NAME --dsn URL [--option value]…: one benchmark, one JSON line. ./run bench drives it.
#include <cstdio>
#include <string_view>

#include "bench/bench.hpp"

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const sluice::bench::Options options{argc, argv, 2};
  if (name == "drain") return sluice::bench::drain(options);
  if (name == "latency") return sluice::bench::latency(options);
  if (name == "publish-single") return sluice::bench::publish_single(options);
  if (name == "publish-batch") return sluice::bench::publish_batch(options);
  if (name == "raw-batch") return sluice::bench::raw_batch(options);
  if (name == "receiver") return sluice::bench::receiver(options);
  std::fprintf(
      stderr,
      "usage: sluice_bench drain|latency|publish-single|publish-batch|raw-batch|receiver --dsn URL [--option value]\n");
  return 2;
}
