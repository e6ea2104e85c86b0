# add_console(<target>): a static library that gives out the files of the web console (http/console_assets.hpp). The
# files are kept in console/bundle, so that a build needs no Node.js; `./run console` makes them anew.
set(SLUICE_CONSOLE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_console_script.cmake)

function(add_console target)
  set(bundle ${PROJECT_SOURCE_DIR}/console/bundle)
  set(packed ${PROJECT_BINARY_DIR}/console/packed)
  set(generated ${PROJECT_BINARY_DIR}/console/console_assets.cpp)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${bundle}/*)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DBUNDLE=${bundle} -DFOLDER=${packed} -DOUTPUT=${generated} -P ${SLUICE_CONSOLE_SCRIPT}
    DEPENDS ${files} ${SLUICE_CONSOLE_SCRIPT}
    COMMENT "Embedding the web console"
    VERBATIM)
  add_library(${target} STATIC ${generated})
  sluice_target(${target})
endfunction()
