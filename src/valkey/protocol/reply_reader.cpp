#include "valkey/protocol/reply_reader.hpp"

#include <cstring>
#include <new>

#include <fmt/format.h>
#include <hiredis/read.h>

namespace ff::valkey {

// Where the value of `task` belongs: the root, or behind its brothers. An array grows with what arrives,
// not with what was announced. Nothing points into an array while it grows. Null, which is a failure, if there are too many.
Reply* place(const redisReadTask* task) {
  auto& target = *static_cast<ReplyReader::Target*>(task->privdata);
  if (++target.values > ReplyReader::reply_values_max) return nullptr;
  if (!task->parent) return &target.root;
  auto& siblings = *static_cast<Reply*>(task->parent->obj)->as_array();
  return &siblings.emplace_back();
}

namespace {

template <class Value>
void* make(const redisReadTask* task, Value value) {
  Reply* reply = place(task);
  if (reply) reply->value = std::move(value);
  return reply;
}

void* make_string(const redisReadTask* task, char* bytes, std::size_t size) {
  if (task->type == REDIS_REPLY_ERROR) return make(task, ReplyError{std::string(bytes, size)});
  return make(task, std::string(bytes, size));
}
void* make_array(const redisReadTask* task, int) { return make(task, std::vector<Reply>{}); }
void* make_integer(const redisReadTask* task, long long number) {
  return make(task, std::int64_t{number});
}
void* make_nil(const redisReadTask* task) { return make(task, Nil{}); }
void free_nothing(void*) {}  // the root is the reader's own

redisReplyObjectFunctions functions{make_string, make_array, make_integer, make_nil, free_nothing};

std::unexpected<Error> malformed(std::string_view what) {
  return fail(Errc::malformed_response, std::string(what));
}

}  // namespace

void ReplyReader::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

ReplyReader::ReplyReader() : reader_(redisReaderCreateWithFunctions(&functions)) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &target_;
  reader_->maxbuf = 1024 * 1024;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  reply_bytes_ += bytes.size();
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Result<std::optional<Reply>> ReplyReader::next() {
  void* whole = nullptr;
  if (redisReaderGetReply(reader_.get(), &whole) != REDIS_OK)
    return malformed(target_.values > reply_values_max
                         ? fmt::format("a reply of more than {} values", reply_values_max)
                         : reader_->errstr);
  const auto left = reader_->len - reader_->pos;
  if (whole) {
    reply_bytes_ = left;
    return std::exchange(target_, {}).root;
  }
  if (reply_bytes_ > reply_bytes_max)
    return malformed(fmt::format("a reply of more than {} bytes", reply_bytes_max));
  if (left > line_bytes_max && !std::memchr(reader_->buf + reader_->pos, '\n', line_bytes_max))
    return malformed(fmt::format("a line of more than {} bytes", line_bytes_max));
  return std::nullopt;
}

}  // namespace ff::valkey
