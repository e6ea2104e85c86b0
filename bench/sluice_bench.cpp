// sluice_bench NAME --dsn URL [--option value]…: one benchmark, one JSON line. ./run bench drives it.
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "bench/bench.hpp"

namespace {

using Program = int (*)(const sluice::bench::Options&);

constexpr std::array kPrograms{
    std::pair<std::string_view, Program>{"broker-consume", sluice::bench::broker_consume},
    std::pair<std::string_view, Program>{"claim-latency", sluice::bench::claim_latency},
    std::pair<std::string_view, Program>{"consume", sluice::bench::consume},
    std::pair<std::string_view, Program>{"drain", sluice::bench::drain},
    std::pair<std::string_view, Program>{"drain-processes", sluice::bench::drain_processes},
    std::pair<std::string_view, Program>{"idle-listeners", sluice::bench::idle_listeners},
    std::pair<std::string_view, Program>{"latency", sluice::bench::latency},
    std::pair<std::string_view, Program>{"publish-batch", sluice::bench::publish_batch},
    std::pair<std::string_view, Program>{"publish-single", sluice::bench::publish_single},
    std::pair<std::string_view, Program>{"raw-batch", sluice::bench::raw_batch},
    std::pair<std::string_view, Program>{"raw-consume", sluice::bench::raw_consume},
    std::pair<std::string_view, Program>{"raw-relay", sluice::bench::raw_relay},
    std::pair<std::string_view, Program>{"receiver", sluice::bench::receiver},
    std::pair<std::string_view, Program>{"relay", sluice::bench::relay},
    std::pair<std::string_view, Program>{"sqlite-drain", sluice::bench::sqlite_drain},
    std::pair<std::string_view, Program>{"sqlite-publish", sluice::bench::sqlite_publish},
    std::pair<std::string_view, Program>{"sqlite-raw-drain", sluice::bench::sqlite_raw_drain},
    std::pair<std::string_view, Program>{"sqlite-raw-publish", sluice::bench::sqlite_raw_publish},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const auto& [known, program] : kPrograms) {
    if (name == known) return program({argc, argv, 2});
  }
  std::fprintf(stderr, "usage: sluice_bench NAME --dsn URL [--option value]…; NAME is one of\n");
  for (const auto& [known, program] : kPrograms)
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(known.size()), known.data());
  return 2;
}
