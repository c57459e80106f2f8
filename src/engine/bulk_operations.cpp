// An engine's operations on bulk jobs.
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "engine/bulks/bulk_matches.hpp"
#include "engine/local_engine.hpp"

namespace ff {

Async<StartBulkReply> LocalEngine::handle(StartBulk operation) {
  const auto now = store_->now();
  const auto filter = core::bulk_filter(operation, now);
  FF_CO_TRY(filter);
  if (operation.dry_run) {
    auto list = matches_of(operation.ns, core::to_text(*filter), limits::list_page_max);
    auto where = *list.where;
    const auto matches = co_await count_matches(*store_, workers_, std::move(list));
    FF_CO_TRY(matches);
    co_return StartBulkReply{
        .where = std::move(where), .matches = matches->count, .at_least = matches->at_least};
  }
  const auto id = operation.id.value_or(BulkId{make_uuid(now, *options_.random)});
  core::CreateBulk create{core::make_bulk(operation, id, *filter, now)};
  const auto created = co_await store_->run(std::move(create));
  FF_CO_TRY(created);
  if (created->duplicate && !core::is_same(created->bulk, operation))
    co_return core::refusals::duplicate_mismatch(id);
  if (options_.scan && bulks_handle_) scanners_.due_in(*bulks_handle_, Millis{0});
  co_return StartBulkReply{.id = id, .duplicate = created->duplicate, .where = created->bulk.where};
}

Async<BulkInfo> LocalEngine::handle(GetBulk operation) {
  core::ReadBulk read{operation.id};
  const auto bulk = co_await store_->run(std::move(read));
  FF_CO_TRY(bulk);
  co_return BulkInfo(*bulk);
}

Async<BulkList> LocalEngine::handle(ListBulks operation) {
  core::FindBulks query{
      .ns = operation.ns, .after = operation.after, .max = operation.limit + std::size_t{1}};
  const auto bulks = co_await store_->run(std::move(query));
  FF_CO_TRY(bulks);
  BulkList list;
  for (const auto& bulk : *bulks) {
    if (list.bulks.size() == operation.limit) {
      list.next = list.bulks.back().id;
      break;
    }
    list.bulks.emplace_back(bulk);
  }
  co_return list;
}

// The process that runs the job may save its progress between the look and the change.
Async<BulkInfo> LocalEngine::handle(StopBulk operation) {
  constexpr int tries_max = 100;
  for (int i = 0; i < tries_max; ++i) {
    core::ReadBulk read{operation.id};
    auto bulk = co_await store_->run(std::move(read));
    FF_CO_TRY(bulk);
    auto next = core::stopped(std::move(*bulk), store_->now());
    FF_CO_TRY(next);
    core::SaveBulk save{*next};
    const auto saved = co_await store_->run(std::move(save));
    FF_CO_TRY(saved);
    if (*saved) co_return BulkInfo(*next);
  }
  co_return fail(Errc::overloaded, "the bulk job changes all the time; try again");
}

}  // namespace ff
