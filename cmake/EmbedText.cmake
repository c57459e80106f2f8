# cmake -DFROM=… -DOUT=… -P EmbedText.cmake: a text file as a C++ string literal.
file(READ ${FROM} text)
if(text MATCHES "\\)ff_text\"")
  message(FATAL_ERROR "${FROM} must not hold the end of the literal")
endif()
file(WRITE ${OUT} "R\"ff_text(${text})ff_text\"")
