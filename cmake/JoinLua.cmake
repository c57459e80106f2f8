# cmake -DOUT=… -DVERSION=… -DGLOBALS=… -DMODULES=a;b;… -DFUNCTIONS=c;d;… -P JoinLua.cmake: one Valkey function library of
# many files, as Lua and as C++ text. Every file has its own scope. A module (a file of lib/) exports one table
# with the name of its file: `local placement = {}` … `return placement`. Modules see those before them,
# functions see all of them.
file(READ ${GLOBALS} text)
set(library "#!lua name=flowfabric\nlocal library_version = '${VERSION}'\n\n${text}")
foreach(file ${MODULES})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME_WE)
  if(NOT text MATCHES "\nlocal ${name} = {}\n" OR NOT text MATCHES "\nreturn ${name}\n$")
    message(FATAL_ERROR "${file} must define and return one table, `${name}`")
  endif()
  string(APPEND library "\nlocal ${name} = (function()\n${text}end)()\n")
endforeach()
foreach(file ${FUNCTIONS})
  file(READ ${file} text)
  string(APPEND library "\ndo\n${text}end\n")
endforeach()
file(WRITE ${OUT} "${library}")
file(WRITE ${OUT}.inc "R\"ff_lua(${library})ff_lua\"")
