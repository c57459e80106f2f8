// Effects of a store on Valkey: a set of texts per partition.
#include <boost/asio/use_awaitable.hpp>

#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {

void ValkeyStore::route(store::Call<store::FindEffects>& call) {
  answer_with(call, [this](store::FindEffects query) { return find_effects(query); });
}

// A few of each partition at a time, so that no call holds Valkey long.
Async<store::EffectPage> ValkeyStore::find_effects(store::FindEffects query) {
  constexpr std::size_t at_once_max = 20;
  const auto of_each = std::min(query.max, at_once_max);
  Question question{.function = "ff_sweep_effects",
                    .arguments = {std::to_string(of_each)},
                    .moving = Moving::skip};
  const auto answers = co_await ask(std::move(question), all_partitions());
  FF_CO_TRY(answers);
  store::EffectPage page;
  for (const auto& answer : *answers)
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
      const auto partition = parse_tag(answer[i]);
      const auto* texts = answer[i + 1].as_array();
      if (!partition || !texts) co_return malformed("ff_sweep_effects");
      for (const auto& text : *texts) {
        auto effect = core::effect_from(text_in(text));
        if (!effect) continue;  // of a newer version
        page.more |= texts->size() == of_each;
        page.effects.push_back({.partition = *partition, .effect = std::move(*effect)});
      }
    }
  co_return page;
}

void ValkeyStore::route(store::Call<store::SettleEffects>& call) {
  const auto partition = call.operation.partition;
  std::vector<std::string> command{"SREM", keys::effects(keys::tag(partition))};
  for (const auto& effect : call.operation.effects) command.push_back(core::to_text(effect));
  Request request{.command = std::move(command), .route = slots_[partition]};
  client_->send(std::move(request), [call = std::move(call)](Result<Reply> reply) mutable {
    if (!reply)
      call.done(std::unexpected(std::move(reply.error())));
    else if (const auto* error = reply->as_error())
      call.done(server_error(*error));
    else
      call.done(ff::Done{});
  });
}

}  // namespace ff::valkey
