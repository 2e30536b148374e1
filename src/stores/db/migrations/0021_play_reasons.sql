-- Why the AutoDJ chose a song, kept after its row of the queue was removed.
create table play_reasons (
  history_id bigint primary key references song_history on delete cascade,
  played_at_ms bigint not null,
  log jsonb not null
);
create index play_reasons_played on play_reasons (played_at_ms);
