-- The alerts of `open_facts` that a message has announced. What is here and no longer there is resolved, and is announced as well.
create table announced_alerts (
  fact text primary key,
  title text not null,
  raised_at timestamptz not null,
  -- Of the last message that named it.
  announced_at timestamptz not null default clock_timestamp()
);

-- Messages about alerts that have not arrived.
create table alert_messages (
  id uuid primary key default gen_random_uuid(),
  -- `mail`, or `url`: a request to ALERT_URL.
  channel text not null,
  content jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp()
);
