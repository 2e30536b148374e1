-- The artists of a song as its file lists them, for the text in `artists_for`: release 0.2.0 changes `artist` alone.
alter table media
  add artists text[] not null default '{}',
  add artists_for text not null default '';

-- A step that goes through a table continues after the row with this key. Until it is done, `done_at` is null.
alter table upgrade_steps
  add position bigint[] not null default '{}',
  alter done_at drop not null,
  alter done_at drop default;
