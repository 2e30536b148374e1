import type { Sql } from '../../src/stores/db/sql.ts'

/** Statements whose rows are not as declared, for `row-types.test.ts`. They are only read. */
export const wrongRows = (sql: Sql, isNamed: boolean, names: readonly string[]) => [
  sql<{ ident: number }[]>`select id from stations`,
  sql<{ id: string }[]>`select id from stations`,
  sql<{ total: number }[]>`select sum(id) as total from stations`,
  sql<{ at: string | Date }[]>`select created_at as at from stations`,
  sql<{ keys: string[] }[]>`select coalesce(artist_keys, '{}') as keys from media`,
  sql<{ triggers: Date }[]>`select to_jsonb(triggers) as triggers from webhooks`,
  sql<{ mediaId: number }[]>`select media_storage_location_id as "mediaId" from stations`,
  sql<{ name: string }[]>`select p.name from stations s left join playlists p on p.station_id = s.id`,
  sql<{ id: number }[]>`select ${isNamed ? sql`name as id` : sql`id`} from stations`,
  sql<{ id: number }[]>`select ${sql.unsafe(names.join(', '))} from stations`,
  sql<{ id: number }[]>`select id from no_table`,
  { select: sql`select id, name from stations`, render: (rows: readonly { id: number }[]) => rows }
]
