# add_console(<target>): a static library that gives out the files of the web console (http/console_assets.hpp).
# Without node and npm, or with -DSLUICE_CONSOLE=OFF, it gives out one page that says how to get the console.
option(SLUICE_CONSOLE "Build the web console into the binary; needs node and npm" ON)
set(SLUICE_CONSOLE_TOOLS ${CMAKE_CURRENT_LIST_DIR})
set(SLUICE_CONSOLE_NODE 18)  # as in Debian 12; what console/package.json names runs on it

# Sets SLUICE_CONSOLE_BUILDS: the console can be built here. Says why where it cannot.
function(find_console_tools)
  find_program(SLUICE_NODE node)
  find_program(SLUICE_NPM npm)
  set(lacking "")
  if(SLUICE_NODE)
    execute_process(COMMAND ${SLUICE_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" version "${version}")
    if(version VERSION_LESS SLUICE_CONSOLE_NODE)
      set(lacking "node is ${version}, and ${SLUICE_CONSOLE_NODE} is the oldest that will do")
    endif()
  endif()
  if(NOT SLUICE_NODE OR NOT SLUICE_NPM)
    set(lacking "node or npm is missing")
  endif()
  if(SLUICE_CONSOLE AND lacking)
    message(STATUS "The binary gets no web console: ${lacking}. Install it and configure again, or set -DSLUICE_CONSOLE=OFF.")
  endif()
  if(SLUICE_CONSOLE AND NOT lacking)
    set(SLUICE_CONSOLE_BUILDS ON CACHE INTERNAL "The web console is built")
  else()
    set(SLUICE_CONSOLE_BUILDS OFF CACHE INTERNAL "The web console is built")
  endif()
endfunction()

function(add_console target)
  set(source ${PROJECT_SOURCE_DIR}/console)
  set(work ${PROJECT_BINARY_DIR}/console)
  set(generated ${work}/console_assets.cpp)
  set(script ${SLUICE_CONSOLE_TOOLS}/embed_console_script.cmake)
  find_console_tools()
  if(SLUICE_CONSOLE_BUILDS)
    set(files ${work}/packed)
    set(build ${SLUICE_CONSOLE_TOOLS}/build-console)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${source}/src/* ${source}/public/*)
    list(FILTER sources EXCLUDE REGEX "\\.test\\.ts$")
    list(APPEND sources ${source}/index.html ${source}/package.json ${source}/svelte.config.js ${source}/vite.config.ts
      ${build} ${SLUICE_CONSOLE_TOOLS}/console-workspace ${SLUICE_CONSOLE_TOOLS}/node-packages)
    set(prepare COMMAND ${build} ${source} ${work}/source ${files})
  else()
    set(files ${source}/not-built)
    set(sources ${files}/index.html)
    set(prepare)
  endif()
  add_custom_command(
    OUTPUT ${generated}
    ${prepare}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${files} -DOUTPUT=${generated} -P ${script}
    DEPENDS ${sources} ${script}
    COMMENT "Building the web console"
    VERBATIM)
  add_library(${target} STATIC ${generated})
  sluice_target(${target})
endfunction()
