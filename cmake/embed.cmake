# cmake -DOUT=x.cpp -DHEADER=x.hpp -DNAMESPACE=a::b -DFILES=one.html;two.js -P embed.cmake
# Writes a C++ source that holds the bytes of the files, as string_views named one_html and two_js. Bytes and not a
# string literal, because the length of a literal has a limit and its delimiter could occur.
set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND source "static constexpr char ${name}_bytes[] = {${bytes}};\n"
                       "const std::string_view ${name}{${name}_bytes, sizeof ${name}_bytes};\n\n")
endforeach()
file(WRITE ${OUT} "${source}}  // namespace ${NAMESPACE}\n")
