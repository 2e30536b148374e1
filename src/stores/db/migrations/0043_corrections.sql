-- Besides cue points, `media.operator_cues` lists the other columns that a person set. It is named after what it held
-- first, because release 0.2.0 uses it; that release keeps names which it does not know.
-- `media.tag_version` 2: it lists all that a person set. In older rows, texts that differ from the file count as set.

-- Whether a value was read from a tag of the file: imports replace only these. An empty value that was not read is one that
-- a person cleared.
alter table media_custom_fields add is_from_tag boolean not null default false;
