#include "http/wire/openapi.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <set>

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
  // Two calls of the published contract are described with the operations whose paths they share.
  const auto is_described = [](const Route& route) {
    return route.audience != Audience::browsers && route.audience != Audience::webhooks &&
           route.endpoint.summary != endpoint<OpenFlow>.summary &&
           route.endpoint.summary != endpoint<CancelMembers>.summary;
  };
  EXPECT_EQ(count, static_cast<std::size_t>(std::ranges::count_if(routes(), is_described)));
  for (const auto& route : routes()) {
    if (!is_described(route)) continue;
    const auto* path = paths.if_contains(route.endpoint.path);
    ASSERT_TRUE(path) << route.endpoint.path;
    std::string method(beast::http::to_string(route.endpoint.method));
    std::ranges::transform(method, method.begin(), [](char c) { return std::tolower(c); });
    EXPECT_TRUE(path->as_object().contains(method)) << route.endpoint.path;
  }
}

TEST(OpenApi, AnAliasIsDeprecatedAndSaysWhatToUse) {
  const auto document = openapi();
  const auto& paths = document.at("paths").as_object();
  for (const auto& route : routes()) {
    if (route.endpoint.alias.empty()) continue;
    const auto& alias = paths.at(route.endpoint.alias).at("post").as_object();
    EXPECT_EQ(alias.at("deprecated"), true) << route.endpoint.alias;
    const std::string_view description = alias.at("description").as_string();
    EXPECT_TRUE(description.starts_with("The same as /v1/")) << description;
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

template <class Visit>
void for_each_object(const json::value& value, const Visit& visit) {
  if (const auto* array = value.if_array())
    for (const auto& element : *array) for_each_object(element, visit);
  const auto* object = value.if_object();
  if (!object) return;
  visit(*object);
  for (const auto& member : *object) for_each_object(member.value(), visit);
}

// The rules of public validators that are not in the schema of OpenAPI itself.
TEST(OpenApi, PassesTheUsualLints) {
  const auto document = openapi();
  EXPECT_TRUE(document.at("info").as_object().at("license").as_object().contains("identifier"));
  EXPECT_FALSE(document.at("servers").as_array().empty());
  std::set<std::string_view> defined;
  for (const auto& tag : document.at("tags").as_array()) {
    defined.insert(tag.as_object().at("name").as_string());
    EXPECT_FALSE(tag.as_object().at("description").as_string().empty());
  }
  for_each_object(document.at("paths"), [&](const json::object& each) {
    if (each.contains("operationId")) {
      for (const auto& tag : each.at("tags").as_array())
        EXPECT_TRUE(defined.contains(tag.as_string())) << tag;
    }
    if (const auto* content = each.if_contains("content")) {
      for (const auto& type : content->as_object())
        EXPECT_EQ(type.value().as_object().size(), 1u) << "a media type has its schema alone";
    }
  });
}

TEST(OpenApi, NamesEachEnumOnce) {
  const auto document = openapi();
  std::map<std::string, int> count;
  for_each_object(document, [&](const json::object& each) {
    const auto* words = each.if_contains("enum");
    if (words && words->is_array() && words->as_array().size() > 2)
      ++count[json::serialize(*words)];
  });
  EXPECT_FALSE(count.empty());
  for (const auto& [words, times] : count) EXPECT_EQ(times, 1) << words;
}

TEST(OpenApi, RefersOnlyToWhatItHolds) {
  const auto document = openapi();
  expect_references(document, document.at("components").as_object().at("schemas").as_object());
}

}  // namespace
}  // namespace ff::http
