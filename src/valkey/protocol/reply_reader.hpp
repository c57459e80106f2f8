// Makes replies of the bytes that a server sends (RESP2).
#pragma once

#include <flowfabric/error.hpp>

#include <memory>
#include <optional>
#include <string_view>

#include "valkey/protocol/reply.hpp"

struct redisReader;
struct redisReadTask;

namespace ff::valkey {

// Reads one connection's bytes. After a failure nothing of that connection can be trusted any more.
class ReplyReader {
 public:
  static constexpr std::size_t reply_bytes_max = 512 * 1024 * 1024;
  static constexpr std::size_t reply_values_max =
      4 * 1024 * 1024;                                      // tiny ones take more here than there
  static constexpr std::size_t line_bytes_max = 64 * 1024;  // of a status, an error, a number
  // It moves what is left to the front again and again; few bytes at a time keep that cheap.
  static constexpr std::size_t feed_bytes_best = 16 * 1024;

  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void feed(std::string_view bytes);

  // The next whole reply, or nothing if more bytes are needed. Fails with malformed_response if the
  // bytes are no replies, or one is too large, has too many parts or is nested more than eight deep.
  Result<std::optional<Reply>> next();

  // Whether everything that was fed has been returned by next().
  bool is_empty() const { return reply_bytes_ == 0; }

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };

  struct Target {
    Reply root;
    std::size_t values = 0;
  };
  friend Reply* place(const redisReadTask* task);

  Target target_;
  std::unique_ptr<redisReader, Free> reader_;
  std::size_t reply_bytes_ = 0;  // fed since the last whole reply
};

}  // namespace ff::valkey
