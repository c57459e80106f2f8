// Commands as bytes, ready for one write.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>

namespace ff::valkey {

// Small arguments are copied together; large ones stay where they are, and must until the write is over.
class WriteBatch {
 public:
  void add(std::span<const std::string> command);
  std::size_t bytes() const { return bytes_; }

  // Valid until the next add() or clear().
  const std::vector<boost::asio::const_buffer>& buffers();
  void clear();

 private:
  // A large argument and what of text_ stands before it.
  struct Large {
    std::size_t text_end;
    std::string_view argument;
  };
  static constexpr std::size_t copied_bytes_max = 4 * 1024;   // of one argument
  static constexpr std::size_t kept_bytes_max = 1024 * 1024;  // for the next batch

  std::string text_;
  std::vector<Large> large_;
  std::size_t bytes_ = 0;
  std::vector<boost::asio::const_buffer> buffers_;
};

}  // namespace ff::valkey
