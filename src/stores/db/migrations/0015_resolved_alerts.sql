-- The notification of an alert. When the alert is resolved, the notification says so.
alter table open_facts add column notification_id text;

create function note_resolution() returns trigger language plpgsql as $$
begin
  update notifications set type = 'success',
    body = body || ' Resolved at ' || to_char(now() at time zone 'utc', 'YYYY-MM-DD HH24:MI') || ' UTC.'
  where notification_id = old.notification_id;
  return null;
end
$$;
create trigger resolution after delete on open_facts for each row execute function note_resolution();
