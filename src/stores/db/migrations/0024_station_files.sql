-- Files of a station beside its library, and commands that only newer scripts of playouts execute.

-- The commands that the script of a playout announced; empty: skip, interrupt and metadata.
alter table playouts add commands jsonb not null default '[]';

-- The track that a playout loops while it has nothing else, in the folder of the station's own files; '' if there is none.
alter table stations add fallback_path text not null default '';

-- The recording below the folder of recordings; '' if there is none.
alter table broadcasts add recording_path text not null default '';

-- The file that a listener of a mount hears first, in the same folder; '' if there is none.
alter table hls_streams add intro_path text not null default '';
