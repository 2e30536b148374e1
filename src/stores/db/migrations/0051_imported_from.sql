-- The real path of the file that an import copied into the media storage; null for other songs. The same file imported again is
-- the same song, also after it was moved in the media storage.
alter table media add column imported_from text;

create index media_by_imported_from on media (station_id, imported_from) where imported_from is not null;
