# sluice_test(<name> SOURCES … LIBS … [LABELS …]): a GoogleTest binary whose cases ctest runs one by
# one. Tests that need PostgreSQL carry the label `postgres` and find it in SLUICE_TEST_POSTGRES.
function(sluice_test name)
  if(NOT SLUICE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  sluice_target(${name} TEST)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE SLUICE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # Twice as many files in a batch as elsewhere: what all tests of a program use, the templates of GoogleTest above all, is
  # compiled once per batch. Not in unit_test: a name is unique within its folder, and its files are of many.
  if(CMAKE_UNITY_BUILD AND NOT name STREQUAL "unit_test")
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  endif()
  include(GoogleTest)
  set(properties TIMEOUT 300)
  if(ARG_LABELS)
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

# sluice_unit_test(SOURCES … LIBS …): tests of a folder that share one program, unit_test, with those of other folders:
# each program costs a link, and most folders have only a few tests.
function(sluice_unit_test)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY SLUICE_UNIT_SOURCES ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY SLUICE_UNIT_LIBS ${ARG_LIBS})
endfunction()

# After all folders have named theirs.
function(sluice_unit_test_program)
  get_property(sources GLOBAL PROPERTY SLUICE_UNIT_SOURCES)
  get_property(libs GLOBAL PROPERTY SLUICE_UNIT_LIBS)
  list(REMOVE_DUPLICATES libs)
  sluice_test(unit_test SOURCES ${sources} LIBS ${libs})
endfunction()
