# sluice_target(<name> [TEST | OUTSIDE]): the warning and sanitizer settings that every target of this repo shares, and
# the precompiled header that makes it quick to build. TEST: a test or its support; compiled without optimising and with
# just enough debug information for a stack trace. OUTSIDE: a program as users write it, each file on its own.
function(sluice_target name)
  cmake_parse_arguments(ARG "TEST;OUTSIDE" "" "" ${ARGN})
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  target_compile_options(${name} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Wformat=2 -Werror
    # Parameter structs are filled by name; members that are left out have their defaults.
    -Wno-missing-field-initializers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  # A bug is an assertion, in release builds too.
  target_compile_options(${name} PRIVATE -UNDEBUG)
  if(SLUICE_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    # What the sanitizers add hides from the compiler that a value is there: it warns of ones that are.
    target_compile_options(${name} PRIVATE -Wno-maybe-uninitialized)
    target_link_options(${name} PUBLIC -fsanitize=${SLUICE_SANITIZE})
  endif()
  if(ARG_OUTSIDE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  elseif(ARG_TEST)
    target_compile_options(${name} PRIVATE -O0 -g1)
    # The compiler takes a precompiled header only with the flags it was made with, and -fPIE is not -fPIC.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    sluice_precompiled(${name} sluice_test_precompiled)
  elseif(NOT type STREQUAL "EXECUTABLE")
    sluice_precompiled(${name} sluice_precompiled)
  endif()
endfunction()

function(sluice_precompiled name from)
  if(NOT name STREQUAL from AND TARGET ${from})
    target_precompile_headers(${name} REUSE_FROM ${from})
  endif()
endfunction()
