-- Web hooks that were deleted, whose deliveries are still to be removed: there may be millions, so they do not go with the hook.
create table deleted_webhooks (
  id bigint primary key
);
create function note_deleted_webhook() returns trigger language plpgsql as $$
begin
  insert into deleted_webhooks (id) values (old.id) on conflict do nothing;
  return null;
end $$;
create trigger note_deleted_webhook after delete on webhooks for each row execute function note_deleted_webhook();
alter table webhook_deliveries drop constraint webhook_deliveries_webhook_id_fkey;

create index broadcasts_of_time on broadcasts (started_at_ms);
create index media_of_artwork on media (artwork_hash) where artwork_hash is not null;
