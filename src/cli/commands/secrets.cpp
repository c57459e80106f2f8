#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/input/files.hpp"
#include "core/waitpoints/key_ring.hpp"

namespace ff::cli {
namespace {

constexpr std::array key_columns{FieldColumn{"kid"}, FieldColumn{"current", Column::Fit::keep},
                                 FieldColumn{"expires_at_ms", Column::Fit::keep}};

// As the time of the rotation, so that the ids of secrets sort by age: k20270131-120000.
std::string new_kid() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("k{:%Y%m%d-%H%M%S}", utc);
}

// Never an argument, which process lists and the shell's history would show.
Result<WaitpointSecret> read_secret(const std::string& file) {
  SystemRandom random;
  if (file.empty()) return core::random_secret(random);
  constexpr std::size_t file_bytes_max = 4096;
  auto text = file == "-" ? read_all(stdin, "standard input", file_bytes_max)
                          : read_file(file, file_bytes_max);
  FF_TRY(text);
  text->erase(text->find_last_not_of(" \r\n\t") + 1);
  auto secret = WaitpointSecret::parse(*text);
  if (!secret)
    secret.error().message =
        fmt::format("the secret in {} {}", file == "-" ? "stdin" : file, secret.error().message);
  return secret;
}

}  // namespace

Run setup_secrets_list(Arguments& arguments) {
  arguments.engine();
  arguments.examples("  ff secrets list\n  ff secrets list --json | jq -r .kid");
  return [](const Context& context) -> Result<ExitCode> {
    const auto list = ask<ListWaitpointKeys>(context, {});
    FF_TRY(list);
    print_rows(context, key_columns, fields_of(list->keys));
    return ExitCode::ok;
  };
}

Run setup_secrets_rotate(Arguments& arguments) {
  struct Given {
    std::string kid;
    std::string secret_file;
  };
  auto given = std::make_shared<Given>();
  arguments.option("--kid", given->kid, "NAME",
                   "The id of the new secret (default: the time, such as k20270131-120000)");
  arguments.option("--secret-file", given->secret_file, "FILE",
                   "The new secret, in hex; - is standard input (default: a random one)");
  arguments.engine();
  arguments.examples(
      "  ff secrets rotate\n"
      "  openssl rand -hex 32 | ff secrets rotate --kid 2027-q1 --secret-file -");
  return [given](const Context& context) -> Result<ExitCode> {
    auto kid = KeyId::parse(given->kid.empty() ? new_kid() : given->kid);
    FF_TRY(kid);
    auto secret = read_secret(given->secret_file);
    FF_TRY(secret);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    const auto reply = run_blocking(
        **engine,
        RotateWaitpointSecret{.new_kid = std::move(*kid), .new_secret = std::move(*secret)});
    FF_TRY(reply);
    print_object(context, http::to_fields(*reply));
    return reply->failed.empty() ? ExitCode::ok : ExitCode::failed;
  };
}

}  // namespace ff::cli
