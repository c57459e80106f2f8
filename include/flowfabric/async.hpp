// Asynchronous results: an Async<T> is a C++20 coroutine on Asio that ends in a Result<T>.
#pragma once

#include <flowfabric/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace ff {

namespace asio = boost::asio;

template <class T>
using Async = asio::awaitable<Result<T>>;

}  // namespace ff
