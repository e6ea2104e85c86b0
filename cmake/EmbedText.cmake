# embed_text(<target> FILE <file> HEADER <file.hpp> NAMESPACE <ns> CONSTANT <name>): a text file as a constant.
set(SLUICE_EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_text_script.cmake)

function(embed_text target)
  cmake_parse_arguments(ARG "" "FILE;HEADER;NAMESPACE;CONSTANT" "" ${ARGN})
  set(input ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FILE})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${ARG_HEADER})
  set(command ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DNAMESPACE=${ARG_NAMESPACE}
              -DCONSTANT=${ARG_CONSTANT} -P ${SLUICE_EMBED_TEXT_SCRIPT})
  if(SLUICE_EMBED_AT_CONFIGURE)
    execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${command}
    DEPENDS ${input} ${SLUICE_EMBED_TEXT_SCRIPT}
    COMMENT "Embedding ${ARG_FILE}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)
endfunction()
