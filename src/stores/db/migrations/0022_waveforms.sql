-- The waveform of a song, made by the workers when an operator first looks at it.
create table media_waveforms (
  media_id bigint primary key references media on delete cascade,
  -- The file: if one of these differs from the media, the waveform is that of another file.
  path text not null,
  size_bytes bigint not null,
  modified_ms bigint not null,
  -- When it was requested; null once it is made or failed.
  requested_at_ms bigint,
  leased_until_ms bigint not null default 0,
  attempts integer not null default 0,
  -- Why there is none, as a predicate about the file; '' if it is made or requested.
  failure text not null default '',
  made_at_ms bigint not null default 0,
  sample_rate integer not null default 0,
  samples_per_pixel bigint not null default 0,
  -- The least and the greatest sample of each pixel, as bytes with a sign.
  peaks bytea not null default ''
);
create index media_waveforms_requested on media_waveforms (requested_at_ms) where requested_at_ms is not null;
