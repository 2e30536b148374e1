/*
 * Where the database holds credentials that are sealed with the secrets key. They are in these columns, and among the
 * settings of web hooks.
 */

/** Columns of sealed texts; an empty one has no credential. */
export const sealedColumns: Readonly<Record<string, readonly string[]>> = {
  storage_locations: [
    's3_credential_secret',
    'dropbox_app_secret',
    'dropbox_auth_token',
    'sftp_password',
    'sftp_private_key',
    'sftp_private_key_pass_phrase'
  ],
  stations: ['frontend_admin_password', 'source_password'],
  remotes: ['admin_password']
}

/** SQL: whether a text is a sealed one. */
export const isSealedSql = (value: string) => `${value} ~ '^v1\\.[A-Za-z0-9_-]{30,}$'`

/** SQL: whether a web hook `t` has a credential. */
export const hookHasCredentialSql = `exists (select from jsonb_array_elements(t.config) e where ${isSealedSql("e ->> 'value'")})`

/** SQL: the settings of a web hook `t`, without its credentials. */
export const configWithoutCredentialsSql = `(
  select coalesce(jsonb_agg(case when ${isSealedSql("e ->> 'value'")} then e || '{"value": ""}' else e end order by place), '[]')
  from jsonb_array_elements(t.config) with ordinality c (e, place))`
