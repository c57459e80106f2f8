#include "cli/input/files.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff::cli {
namespace {

std::unexpected<Error> unreadable(std::string_view name, int reason) {
  return fail(Errc::invalid_input,
              fmt::format("cannot read {}: {}", printable(name), std::strerror(reason)));
}

}  // namespace

Result<File> open_file(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return unreadable(path.string(), errno);
  return file;
}

Result<std::string> read_all(std::FILE* file, std::string_view name, std::size_t bytes_max) {
  std::string bytes;
  std::array<char, 64 * 1024> buffer;
  while (const auto size = std::fread(buffer.data(), 1, buffer.size(), file)) {
    bytes.append(buffer.data(), size);
    if (bytes.size() > bytes_max)
      return fail(Errc::payload_too_large,
                  fmt::format("{} holds more than {} bytes", printable(name), bytes_max));
  }
  if (std::ferror(file)) return unreadable(name, errno);
  return bytes;
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const auto file = open_file(path);
  FF_TRY(file);
  return read_all(file->get(), path.string(), bytes_max);
}

}  // namespace ff::cli
