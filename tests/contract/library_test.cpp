// The text of the function library: which global variables it uses. Valkey refuses an unknown one only when the
// line that reads or sets it runs, so the compiled code is searched for them.
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/contract/fixture.hpp"
#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

struct Globals {
  std::set<std::string> read;
  std::set<std::string> set;
};

// Lua 5.1's own format of compiled code:
//   chunk    := header:12 function
//   function := source:string lines:2×int32 sizes:4 code:list constants:list functions:list
//               line_numbers:list locals:list upvalues:list
class CompiledCode {
 public:
  explicit CompiledCode(std::string bytes) : bytes_(std::move(bytes)) {}

  Globals globals() {
    at_ = 12;
    read_function();
    return std::move(globals_);
  }

 private:
  static constexpr std::uint32_t get_global = 5;
  static constexpr std::uint32_t set_global = 7;

  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string take(std::size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("the compiled code ends early");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::string text() {
    const auto text = take(number<std::size_t>());
    return text.substr(0, text.find('\0'));
  }
  void each(const auto& read) {
    for (auto left = number<std::int32_t>(); left > 0; --left) read();
  }

  std::string constant() {
    switch (number<char>()) {
      case 1: take(1); return "";
      case 3: take(sizeof(double)); return "";
      case 4: return text();
      default: return "";
    }
  }

  void read_function() {
    text();
    take(2 * sizeof(std::int32_t) + 4);
    std::vector<std::uint32_t> code;
    each([&] { code.push_back(number<std::uint32_t>()); });
    Texts constants;
    each([&] { constants.push_back(constant()); });
    for (const auto instruction : code) {
      const auto operation = instruction & 0x3F;
      if (operation == get_global) globals_.read.insert(constants.at(instruction >> 14));
      if (operation == set_global) globals_.set.insert(constants.at(instruction >> 14));
    }
    each([&] { read_function(); });
    each([&] { take(sizeof(std::int32_t)); });
    each([&] { text(), take(2 * sizeof(std::int32_t)); });
    each([&] { text(); });
  }

  std::string bytes_;
  std::size_t at_ = 0;
  Globals globals_;
};

using FunctionLibrary = Contract;

TEST_F(FunctionLibrary, ReadsGlobalVariablesInOnePlace) {
  std::ifstream file(function_library_path());
  std::stringstream text;
  text << "--" << file.rdbuf();  // its first line is not Lua
  const auto code =
      command({"EVAL", "return string.dump(assert(loadstring(ARGV[1])))", "0", text.str()});
  ASSERT_TRUE(code.as_text()) << valkey::to_text(code);
  const auto globals = CompiledCode(*code.as_text()).globals();
  EXPECT_EQ(globals.set, std::set<std::string>{});
  EXPECT_EQ(globals.read, (std::set<std::string>{"_G", "server"}))
      << "globals.lua is to find all others";
}

}  // namespace
}  // namespace ff::test
