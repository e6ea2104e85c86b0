# Run with -P by add_console(); see EmbedConsole.cmake. Copies BUNDLE to FOLDER, compressed but for the start page, which
# the server fills in, and turns the files into one C++ source.
file(REMOVE_RECURSE ${FOLDER})
file(COPY ${BUNDLE}/ DESTINATION ${FOLDER})
file(GLOB_RECURSE files ${FOLDER}/*)
list(FILTER files EXCLUDE REGEX "/index\\.html$")
execute_process(COMMAND gzip -9 -n ${files} COMMAND_ERROR_IS_FATAL ANY)

set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")

set(bytes "")
set(rows "")
set(number 0)
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
foreach(file ${files})
  file(SHA256 ${FOLDER}/${file} digest)
  string(SUBSTRING ${digest} 0 16 digest)
  file(READ ${FOLDER}/${file} hex HEX)
  # Character literals: 90 kB compile in 0.4 s, so nothing cleverer is needed.
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," literals "${hex}")
  string(APPEND bytes "constexpr char kFile${number}[]{${literals}};\n")

  set(path ${file})
  set(encoding "")
  if(file MATCHES "\\.gz$")
    set(encoding "gzip")
    string(REGEX REPLACE "\\.gz$" "" path ${file})
  endif()
  string(REGEX MATCH "[^.]+$" extension ${path})
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "console: ${path} has an extension without a media type; add it to ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  string(APPEND rows "    {\"${path}\", \"${type_${extension}}\", \"${encoding}\", {kFile${number}, sizeof kFile${number}}, \"\\\"${digest}\\\"\"},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT} "// Generated from the built console. Do not edit.
#include \"http/console_assets.hpp\"

namespace sluice::http {
namespace {

${bytes}
constexpr Asset kAssets[]{
${rows}};

}  // namespace

std::span<const Asset> console_assets() { return kAssets; }

}  // namespace sluice::http
")
