-- For tasks that look at few stations every second (`src/engine/station-rotation.ts`).
create index libraries_version on libraries (version);
create index stations_unfilled on stations (id) where filled_version = -1 and is_enabled and backend <> 'none';
create index stations_waking on stations (wake_at_ms) where wake_at_ms is not null;
