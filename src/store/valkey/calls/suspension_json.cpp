#include "store/valkey/calls/suspension_json.hpp"

#include <boost/json.hpp>

#include "base/overloaded.hpp"

namespace ff::valkey_store {
namespace {

namespace json = boost::json;

json::object to_object(const Condition& condition);

json::array to_array(const std::vector<Condition>& parts) {
  json::array list;
  for (const auto& part : parts) list.emplace_back(to_object(part));
  return list;
}

json::object to_object(const Condition& condition) {
  return std::visit(Overloaded{
                        [](const OneSignal& one) {
                          json::object object;
                          if (one.name) object["signal"] = one.name->str();
                          if (one.waitpoint) object["waitpoint"] = one.waitpoint->str();
                          return object;
                        },
                        [](const CountOf& many) {
                          json::object object{{"count", many.n}, {"of", to_string(many.of)}};
                          if (many.name) object["signal"] = many.name->str();
                          json::array keys;
                          for (const auto& key : many.waitpoints) keys.emplace_back(key.str());
                          if (!keys.empty()) object["waitpoints"] = std::move(keys);
                          return object;
                        },
                        [](const AllOf& all) {
                          return json::object{{"all", to_array(all.of)}};
                        },
                        [](const AnyOf& any) {
                          return json::object{{"any", to_array(any.of)}};
                        },
                        [](const OperatorOnly&) {
                          return json::object{{"operator", true}};
                        },
                        [](const TimeoutOnly&) {
                          return json::object{{"timeout", true}};
                        },
                    },
                    condition.is);
}

std::string string_in(const json::value& value) {
  const auto* text = value.if_string();
  return text ? std::string(*text) : std::string{};
}

// Programs of the contract may use names that ours may not: these are shown as if there were none.
template <class Text>
std::optional<Text> name_in(const json::value* value) {
  auto parsed = value ? Text::parse(string_in(*value)) : Result<Text>{std::unexpected(Error{})};
  return parsed && !parsed->str().empty() ? std::optional(std::move(*parsed)) : std::nullopt;
}

// Reads the parts in reading order, each with its size.
class ConditionReader {
 public:
  explicit ConditionReader(const std::vector<std::size_t>& sizes) : sizes_(sizes) {}

  Condition read(const json::value& value) {
    static const json::object none;
    const auto& object = value.is_object() ? value.get_object() : none;
    if (const auto* all = object.if_contains("all")) return {AllOf{read_list(*all)}};
    if (const auto* any = object.if_contains("any")) return {AnyOf{read_list(*any)}};
    if (object.contains("operator")) return {OperatorOnly{}};
    if (object.contains("timeout")) return {TimeoutOnly{}};
    if (const auto* slots = object.if_contains("slots")) return read_slots(*slots, object);
    if (object.contains("count")) return read_count(object);
    count(next_size());
    return {OneSignal{.name = name_in<SignalName>(object.if_contains("signal")),
                      .waitpoint = name_in<WaitpointKey>(object.if_contains("waitpoint"))}};
  }
  core::Tally take_tally() { return std::move(tally_); }

 private:
  std::size_t next_size() { return index_ < sizes_.size() ? sizes_[index_++] : 0; }
  void count(std::size_t size) { tally_.parts.emplace_back(size); }

  std::vector<Condition> read_list(const json::value& list) {
    std::vector<Condition> parts;
    if (const auto* array = list.if_array())
      for (const auto& each : *array) parts.push_back(read(each));
    return parts;
  }

  Condition read_count(const json::object& object) {
    CountOf many{.name = name_in<SignalName>(object.if_contains("signal"))};
    boost::system::error_code error;
    many.n = object.at("count").to_number<std::uint32_t>(error);
    if (const auto* of = object.if_contains("of"))
      many.of = from_name<Counted>(string_in(*of)).value_or(Counted::signals);
    if (const auto* list = object.if_contains("waitpoints"); list && list->is_array())
      for (const auto& key : list->get_array())
        if (auto parsed = name_in<WaitpointKey>(&key))
          many.waitpoints.push_back(std::move(*parsed));
    count(next_size());
    return {std::move(many)};
  }

  // Each slot takes one signal: all of them, any of them, or so many.
  Condition read_slots(const json::value& slots, const json::object& object) {
    const auto* names = slots.if_array();
    boost::system::error_code error;
    const auto* told = object.if_contains("needed");
    const auto needed = told ? told->to_number<double>(error) : 1.0;
    std::vector<Condition> parts;
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; names && i < names->size(); ++i) {
      parts.push_back({OneSignal{.name = name_in<SignalName>(&(*names)[i])}});
      taken.push_back(next_size());
    }
    const auto size = static_cast<double>(parts.size());
    if (needed > 1 && needed < size) {
      std::size_t sum = 0;
      for (const auto each : taken) sum += each;
      count(sum);
      return {CountOf{.n = static_cast<std::uint32_t>(needed)}};
    }
    for (const auto each : taken) count(each);
    if (parts.size() == 1) return std::move(parts.front());
    if (needed > 1) return {AllOf{std::move(parts)}};
    return {AnyOf{std::move(parts)}};
  }

  const std::vector<std::size_t>& sizes_;
  std::size_t index_ = 0;
  core::Tally tally_;
};

}  // namespace

std::string to_json(const Condition& condition) { return json::serialize(to_object(condition)); }

std::optional<Progressed> read_condition(std::string_view text,
                                         const std::vector<std::size_t>& sizes) {
  boost::system::error_code error;
  const auto value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  ConditionReader reader(sizes);
  auto condition = reader.read(value);
  return Progressed{.condition = std::move(condition), .tally = reader.take_tally()};
}

std::string to_json(const Question& question) {
  json::object object{{"title", question.title}, {"text", question.text}};
  json::array choices;
  for (const auto& choice : question.choices)
    choices.emplace_back(json::array{choice.signal.str(), choice.label});
  json::array approvers;
  for (const auto& approver : question.approvers) approvers.emplace_back(approver);
  object["choices"] = std::move(choices);
  object["approvers"] = std::move(approvers);
  return json::serialize(object);
}

std::optional<Question> read_question(std::string_view text) {
  boost::system::error_code error;
  const auto value = json::parse(text, error);
  const auto* object = error ? nullptr : value.if_object();
  if (!object) return std::nullopt;
  const auto list = [&](std::string_view name) {
    const auto* found = object->if_contains(name);
    return found && found->is_array() ? found->get_array() : json::array{};
  };
  Question question;
  if (const auto* title = object->if_contains("title")) question.title = string_in(*title);
  if (const auto* body = object->if_contains("text")) question.text = string_in(*body);
  for (const auto& each : list("choices")) {
    const auto* pair = each.if_array();
    if (!pair || pair->size() != 2) return std::nullopt;
    auto signal = SignalName::parse(string_in((*pair)[0]));
    if (!signal) return std::nullopt;
    question.choices.push_back({.signal = std::move(*signal), .label = string_in((*pair)[1])});
  }
  for (const auto& each : list("approvers")) question.approvers.push_back(string_in(each));
  return question;
}

}  // namespace ff::valkey_store
