#include "http/wire/openapi.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "http/server/routes.hpp"
#include "tests/support/paths.hpp"

namespace ff::http {
namespace {

namespace json = boost::json;

const auto file = ff::test::source_dir() / "docs/openapi.json";

// As people write it: a member a line, indented.
void write_pretty(std::ostream& out, const json::value& value, const std::string& indent) {
  const auto inner = indent + "  ";
  const char* separator = "\n";
  if (const auto* object = value.if_object(); object && !object->empty()) {
    out << "{";
    for (const auto& member : *object) {
      out << std::exchange(separator, ",\n") << inner << json::serialize(member.key()) << ": ";
      write_pretty(out, member.value(), inner);
    }
    out << "\n" << indent << "}";
  } else if (const auto* array = value.if_array(); array && !array->empty()) {
    const bool flat = !array->front().is_object();
    if (flat) {
      out << json::serialize(value);
      return;
    }
    out << "[";
    for (const auto& element : *array) {
      out << std::exchange(separator, ",\n") << inner;
      write_pretty(out, element, inner);
    }
    out << "\n" << indent << "]";
  } else {
    out << json::serialize(value);
  }
}

TEST(OpenApi, DocumentInTheRepositoryIsTheServersOwn) {
  std::ostringstream text;
  write_pretty(text, openapi(), "");
  text << "\n";
  if (std::getenv("FF_UPDATE")) std::ofstream(file) << text.str();
  std::ifstream saved(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(saved), {}), text.str())
      << "docs/openapi.json is out of date; refresh it: FF_UPDATE=1 ff_http_test "
         "--gtest_filter='OpenApi.*'";
}

TEST(OpenApi, HasEveryRoute) {
  const auto document = openapi();
  const auto& paths = document.at("paths").as_object();
  std::size_t count = 0;
  for (const auto& path : paths) count += path.value().as_object().size();
  EXPECT_EQ(count, routes().size());
  for (const auto& route : routes()) {
    const auto* path = paths.if_contains(route.endpoint.path);
    ASSERT_TRUE(path) << route.endpoint.path;
    std::string method(beast::http::to_string(route.endpoint.method));
    std::ranges::transform(method, method.begin(), [](char c) { return std::tolower(c); });
    EXPECT_TRUE(path->as_object().contains(method)) << route.endpoint.path;
  }
}

// Whatever is referred to is there.
void expect_references(const json::value& value, const json::object& schemas) {
  if (const auto* array = value.if_array())
    for (const auto& element : *array) expect_references(element, schemas);
  const auto* object = value.if_object();
  if (!object) return;
  if (const auto* reference = object->if_contains("$ref")) {
    const std::string_view name = reference->as_string();
    EXPECT_TRUE(schemas.contains(name.substr(name.rfind('/') + 1))) << name;
  }
  for (const auto& member : *object) expect_references(member.value(), schemas);
}

TEST(OpenApi, RefersOnlyToWhatItHolds) {
  const auto document = openapi();
  expect_references(document, document.at("components").as_object().at("schemas").as_object());
}

}  // namespace
}  // namespace ff::http
