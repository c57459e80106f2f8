#include "valkey/protocol/write_batch.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace ff::valkey {
namespace {

std::string bytes_of(WriteBatch& batch) {
  std::string all;
  for (const auto& buffer : batch.buffers())
    all.append(static_cast<const char*>(buffer.data()), buffer.size());
  EXPECT_EQ(all.size(), batch.bytes());
  return all;
}

TEST(WriteBatch, JoinsSmallCommands) {
  WriteBatch batch;
  const std::vector<std::string> get{"GET", "a"}, set{"SET", "", std::string("\0\r\n", 3)};
  batch.add(get);
  batch.add(set);
  EXPECT_EQ(batch.buffers().size(), 1U);
  EXPECT_EQ(bytes_of(batch), std::string("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
                                         "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n",
                                         48));
}

TEST(WriteBatch, DoesNotCopyLargeArguments) {
  WriteBatch batch;
  const std::string large(100'000, 'x');
  const std::vector<std::string> command{"SET", large, "b", large};
  batch.add(command);
  ASSERT_EQ(batch.buffers().size(), 5U);
  EXPECT_EQ(batch.buffers()[1].data(), command[1].data());
  EXPECT_EQ(bytes_of(batch),
            fmt::format("*4\r\n$3\r\nSET\r\n$100000\r\n{}\r\n$1\r\nb\r\n$100000\r\n{}\r\n", large,
                        large));
  batch.clear();
  EXPECT_EQ(bytes_of(batch), "");
}

}  // namespace
}  // namespace ff::valkey
