-- What web hooks are told of, and how telling them went.

alter table webhooks
  drop column pending,
  -- Sealed; it signs too until then.
  add former_secret text,
  add former_secret_until_ms bigint not null default 0,
  -- Who delivers to it at the moment, and until when at most.
  add holder text,
  add held_until_ms bigint not null default 0,
  -- The circuit breaker: how often in a row it was opened, and until when it is.
  add pauses integer not null default 0,
  add paused_until_ms bigint not null default 0,
  -- Since when there were failures only.
  add failing_since_ms bigint,
  -- When the last delivery began that did not fail: `rate_limit` counts from here.
  add last_sent_ms bigint not null default 0,
  add rate_limit_ms bigint not null generated always as (
    case when jsonb_path_query_first(config, '$[*] ? (@.key == "rate_limit").value') #>> '{}' ~ '^[0-9]{1,5}$'
      then (jsonb_path_query_first(config, '$[*] ? (@.key == "rate_limit").value') #>> '{}')::bigint * 1000 else 0 end
  ) stored;

-- Facts that hooks are told of. The state is the station's as of the fact, as text: `jsonb` would put keys in another order.
create table webhook_events (
  id bigint generated always as identity primary key,
  station_id bigint not null references stations on delete cascade,
  -- What happened, the same however often it is written down.
  fact text not null,
  happened_at_ms bigint not null,
  state json not null,
  unique (station_id, fact)
);
create index webhook_events_of_time on webhook_events (happened_at_ms);

-- What one hook is told: the outbox, and afterwards the log.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks on delete cascade,
  event_id bigint not null references webhook_events on delete cascade,
  -- `webhook-id`.
  message_id text not null,
  triggers text[] not null,
  happened_at_ms bigint not null,
  state text not null default 'pending'
    check (state in ('pending', 'delivered', 'failed', 'merged', 'superseded', 'expired', 'cancelled')),
  attempts integer not null default 0,
  -- When it is due; null once it is over.
  next_attempt_ms bigint,
  -- Sent again by an operator: it stands behind nothing, and nothing waits for it.
  is_again boolean not null default false,
  ended_at_ms bigint,
  unique (webhook_id, message_id)
);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, event_id) where state = 'pending';
create index webhook_deliveries_due on webhook_deliveries (next_attempt_ms) where state = 'pending';
create index webhook_deliveries_of_event on webhook_deliveries (event_id);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, id desc);

create table webhook_attempts (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references webhook_deliveries on delete cascade,
  attempt integer not null,
  started_at_ms bigint not null,
  duration_ms integer not null,
  -- HTTP status, 0 without an answer.
  status integer not null,
  -- One word, empty where it arrived.
  error text not null,
  -- Where it went, without a query and without secrets.
  url text not null,
  -- The beginning of the answer.
  response text not null
);
create index webhook_attempts_of_delivery on webhook_attempts (delivery_id, id);

alter table stations
  -- Audio went on or off, and hooks are told once that has lasted a while.
  add turned_online boolean,
  add turned_at_ms bigint;
create index stations_turned on stations (turned_at_ms) where turned_at_ms is not null;
