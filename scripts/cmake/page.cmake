# Joins the sources of the page (core/views/page) and makes a C++ file of them:
#   cmake -DFOLDER=… -DOUT=… -P page.cmake
# The policy in the page allows its own style and script by the base64 of their SHA-256.

# sha256_base64(RESULT TEXT)
function(sha256_base64 result text)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 hex "${text}")
  string(APPEND hex "00")  # to whole groups of three bytes; its last sextet is the '='
  set(base64 "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}" ${at} 6 group)
    foreach(shift 18 12 6 0)
      math(EXPR sextet "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${sextet} 1 letter)
      string(APPEND base64 "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${base64}" 0 43 base64)
  set(${result} "${base64}=" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/style.css style)
set(script "\"use strict\";\n(() => {\n")
foreach(part data format treemap table numbers metadata main)
  file(READ ${FOLDER}/${part}.js text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")

sha256_base64(style_hash "${style}")
sha256_base64(script_hash "${script}")
string(REPLACE "@STYLE_HASH@" "${style_hash}" page "${page}")
string(REPLACE "@SCRIPT_HASH@" "${script_hash}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")

string(FIND "${page}" "@TENSORS@" tensors)
string(FIND "${page}" "@METADATA@" metadata)
string(SUBSTRING "${page}" 0 ${tensors} begin)
math(EXPR middle "${tensors} + 9")
math(EXPR length "${metadata} - ${middle}")
string(SUBSTRING "${page}" ${middle} ${length} between)
math(EXPR end "${metadata} + 10")
string(SUBSTRING "${page}" ${end} -1 rest)
file(WRITE ${OUT} "// Made of core/views/page by scripts/cmake/page.cmake.
#include \"core/views/page/page_source.hpp\"

namespace tensorfs {

const PageSource page_source{R\"page(${begin})page\",
                             R\"page(${between})page\",
                             R\"page(${rest})page\"};

}  // namespace tensorfs
")
