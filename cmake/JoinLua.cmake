# cmake -DOUT=… -DVERSION=… -DFILES=a;b;… -P JoinLua.cmake: one Valkey function library of many files, as
# C++ text. A file of functions has its own scope; those of lib/ share one, in the order given.
set(library "#!lua name=flowfabric\nlocal library_version = '${VERSION}'\n")
foreach(file ${FILES})
  file(READ ${file} text)
  if(file MATCHES "/lib/")
    string(APPEND library "\n${text}")
  else()
    string(APPEND library "\ndo\n${text}end\n")
  endif()
endforeach()
get_filename_component(name ${OUT} NAME_WE)
file(WRITE ${OUT} "${library}")
file(WRITE ${OUT}.inc "R\"ff_lua(${library})ff_lua\"")
