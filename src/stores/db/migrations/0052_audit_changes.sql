-- What an entry of the audit log is about, by name, and the values before and after: {"field": {"from": 1, "to": 2}}, or "changed" for
-- a field whose values are not stored, such as a secret. Null in entries of releases before 0.3.
alter table audit_log add column record_name text, add column station_name text, add column changes jsonb;
