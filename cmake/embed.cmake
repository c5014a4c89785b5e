# cmake -DOUT=x.cpp -DHEADER=x.hpp -DNAMESPACE=a::b -DFILES=one.html;two.js -P embed.cmake
# Writes a C++ source that holds the bytes of the files, as string_views named one_html and two_js. Bytes and not a
# string literal, because the length of a literal has a limit and its delimiter could occur.
# With -DLIST=names -DLIST_TYPE=file it holds instead one span, of a {name of the file, bytes} each in the order given.
set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
set(entries "")
set(view "const std::string_view")
if(LIST)
  set(view "static constexpr std::string_view")
endif()
foreach(file IN LISTS FILES)
  get_filename_component(leaf ${file} NAME)
  string(MAKE_C_IDENTIFIER ${leaf} name)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND source "static constexpr char ${name}_bytes[] = {${bytes}};\n"
                       "${view} ${name}{${name}_bytes, sizeof ${name}_bytes};\n\n")
  string(APPEND entries "    {\"${leaf}\", ${name}},\n")
endforeach()
if(LIST)
  string(APPEND source "static constexpr ${LIST_TYPE} ${LIST}_array[] = {\n${entries}};\n"
                       "const std::span<const ${LIST_TYPE}> ${LIST}{${LIST}_array};\n\n")
endif()
file(WRITE ${OUT} "${source}}  // namespace ${NAMESPACE}\n")
