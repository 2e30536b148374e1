-- Listen tokens of earlier generations are revoked (src/api/auth/listen-tokens.ts). Constant default: no rewrite of the table.
alter table stations add column listen_token_generation integer not null default 0;
