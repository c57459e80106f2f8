#include "cli/request.hpp"

namespace ff::cli {

void Request::set(std::string_view path, http::json::value value) {
  auto* object = &values;
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    auto& inner = (*object)[path.substr(0, dot)];
    if (!inner.is_object()) inner.emplace_object();
    object = &inner.get_object();
    path.remove_prefix(dot + 1);
  }
  (*object)[path] = std::move(value);
}

}  // namespace ff::cli
