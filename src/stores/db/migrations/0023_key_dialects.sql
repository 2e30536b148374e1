-- The dialect of the API in which requests with a key are answered. Null: that of the installation.
alter table api_keys add column dialect text check (dialect in ('documented', 'azuracast'));
