-- Whether the start of a process has succeeded: one that ends during its start, again and again, does not count as running. Rows of
-- older releases count.
alter table processes add is_ready boolean not null default true;
-- What `npm run doctor` must know of it, by the names of variables. Null for older releases. Nothing secret.
alter table processes add settings jsonb;
