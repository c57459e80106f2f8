// The one place where Beast is compiled.
#include <boost/beast/src.hpp>
