// Patches of a document, one per line: each is refused or merged, and the document stays JSON.
#include <flowfabric/limits.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/utf8.hpp"
#include "core/streams/merge_patch.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

std::vector<std::string> valid_lines(std::string_view input) {
  std::vector<std::string> lines;
  while (!input.empty()) {
    const auto end = std::min(input.find('\n'), input.size());
    const auto line = input.substr(0, end);
    const auto checked = core::check_json(line, limits::summary_depth_max);
    if (checked)
      lines.emplace_back(line);
    else
      expect(is_valid_utf8(checked.error()), "errors are valid UTF-8");
    if (checked) expect(checked->members <= line.size() / 4, "a member has at least four bytes");
    input.remove_prefix(std::min(input.size(), end + 1));
  }
  return lines;
}

std::string merged(std::string_view before, const std::vector<std::string>& patches) {
  core::JsonDocument document(before);
  for (const auto& patch : patches) document.merge(patch);
  return document.text();
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  const auto patches = fuzz::valid_lines(fuzz::as_text(data, size));
  const auto at_once = fuzz::merged("null", patches);
  fuzz::expect(core::check_json(at_once, limits::summary_depth_max).has_value(),
               "a document is JSON, no deeper than its patches");
  std::string document = "null";
  for (const auto& patch : patches) {
    document = fuzz::merged(document, {patch});
    fuzz::expect(fuzz::merged(document, {"{}"}) == document || document.front() != '{',
                 "an empty patch changes nothing");
  }
  fuzz::expect(document == at_once, "patches merge alike in one call and in several");
  return 0;
}
