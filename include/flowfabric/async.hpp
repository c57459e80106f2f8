// Asynchronous results: an Async<T> is a C++20 coroutine on Asio that ends in a Result<T>.
#pragma once

#include <flowfabric/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#if defined(BOOST_ASIO_NO_DEPRECATED)
// It changes the return types of compiled functions of Asio: two parts of a program that differ in it crash.
#error \
    "FlowFabric is compiled without BOOST_ASIO_NO_DEPRECATED; compile this program without it, too"
#endif

namespace ff {

namespace asio = boost::asio;

template <class T>
using Async = asio::awaitable<Result<T>>;

}  // namespace ff
