# sluice_target(<name>): the warning and sanitizer settings that every target of this repo shares.
function(sluice_target name)
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
    target_link_options(${name} PUBLIC -fsanitize=${SLUICE_SANITIZE})
  endif()
endfunction()
