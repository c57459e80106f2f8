// Request bodies whose memory is limited over all connections.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional.hpp>

#include "http/server/allowance.hpp"

namespace ff::http {

// A Beast body that takes its share of an allowance as its bytes arrive, not as its header announces them.
// The first `unshared` bytes need no share, so small requests get through however much is being read.
// Parsing fails with errc::not_enough_memory when the allowance is used up.
struct MeteredBody {
  struct value_type {
    std::string text = {};
    Allowance::Share share = {};
    std::size_t unshared = 0;

    bool add(const void* bytes, std::size_t size) {
      const auto whole = text.size() + size;
      if (whole > unshared && !share.grow_to(whole - unshared)) return false;
      text.append(static_cast<const char*>(bytes), size);
      return true;
    }
  };

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(boost::beast::http::header<is_request, Fields>&, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, boost::system::error_code& failed) {
      failed = {};
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& failed) {
      std::size_t taken = 0;
      failed = {};
      for (const boost::asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        if (!body_.add(buffer.data(), buffer.size())) {
          failed = make_error_code(boost::system::errc::not_enough_memory);
          break;
        }
        taken += buffer.size();
      }
      return taken;
    }

    void finish(boost::system::error_code& failed) { failed = {}; }

   private:
    value_type& body_;
  };
};

using RequestParser = boost::beast::http::request_parser<MeteredBody>;

}  // namespace ff::http
