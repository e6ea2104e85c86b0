# The two precompiled headers, for sources and for tests. Only headers that hardly ever change belong there: whoever
# touches one compiles everything again. What a file needs it includes itself; it must build without them too.
set(empty ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
file(CONFIGURE OUTPUT ${empty} CONTENT "")

add_library(sluice_precompiled OBJECT ${empty})
sluice_target(sluice_precompiled)
target_precompile_headers(sluice_precompiled PRIVATE
  <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint> <deque> <functional> <iomanip> <map>
  <memory> <mutex> <optional> <set> <span> <sstream> <stop_token> <string> <string_view> <thread> <unordered_map>
  <utility> <variant> <vector>)

if(SLUICE_TESTS)
  add_library(sluice_test_precompiled OBJECT ${empty})
  sluice_target(sluice_test_precompiled TEST)
  target_link_libraries(sluice_test_precompiled PRIVATE GTest::gtest GTest::gmock)
  target_precompile_headers(sluice_test_precompiled PRIVATE
    <gmock/gmock.h> <gtest/gtest.h>
    <algorithm> <array> <atomic> <chrono> <cstdint> <filesystem> <fstream> <functional> <future> <latch> <map> <memory>
    <mutex> <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <utility> <vector>)
endif()
