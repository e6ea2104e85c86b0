# embed_sql(<target> NAMESPACE <ns> HEADER <file.hpp> DIR <folder>): turns every .sql file below
# <folder>/query into a constant of the file's name, and the numbered files below <folder>/migration
# into one ordered array. What several queries have in common stands once below <folder>/part; `{{name}}` takes it in. The file name is the constant, the statement name and the metric label. The header declares,
# a file beside it defines.
set(SLUICE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_sql_script.cmake)

function(embed_sql target)
  cmake_parse_arguments(ARG "" "NAMESPACE;HEADER;DIR" "" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR})
  set(header ${CMAKE_CURRENT_BINARY_DIR}/generated/${ARG_HEADER})
  string(REGEX REPLACE "\\.hpp$" ".cpp" definitions ${header})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/query/*.sql ${folder}/part/*.sql ${folder}/migration/*.sql ${folder}/admin/*.sql)
  set(command ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${header} -DNAMESPACE=${ARG_NAMESPACE} -P ${SLUICE_EMBED_SCRIPT})
  if(SLUICE_EMBED_AT_CONFIGURE)
    execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_custom_command(
    OUTPUT ${definitions}
    BYPRODUCTS ${header}
    COMMAND ${command}
    DEPENDS ${sources} ${SLUICE_EMBED_SCRIPT}
    COMMENT "Embedding SQL of ${ARG_NAMESPACE}"
    VERBATIM)
  set_source_files_properties(${definitions} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${definitions})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
