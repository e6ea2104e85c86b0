# Run with -P by embed_text(); see EmbedText.cmake. In pieces: a literal has a greatest length that compilers take,
# and neighbours are joined.
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 4000 piece)
  string(APPEND pieces "    R\"~text~(${piece})~text~\"\n")
  math(EXPR at "${at} + 4000")
endwhile()
file(WRITE ${OUTPUT} "// Generated from ${INPUT}. Do not edit.\n#pragma once\n\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n\ninline constexpr std::string_view ${CONSTANT} =\n${pieces}    ;\n\n}  // namespace ${NAMESPACE}\n")
