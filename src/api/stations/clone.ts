import * as v from 'valibot'

import { createStation } from '../../engine/change-station.ts'
import {
  choiceField,
  toColumnName,
  validatedField,
  listField,
  textField,
  type ValuesOf
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError, fieldError } from '../../platform/runtime/errors.ts'
import { addMissingPollRows } from '../../radio/polls/poll-rows.ts'
import type { Fragment, Tx } from '../../stores/db/sql.ts'
import { defaultMountPath } from '../../stores/db/stations.ts'
import { type HookConfig, isGeneratedSetting, isSecretSetting } from '../../webhooks/hook-config.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'
import { storageLocationReferences } from '../admin/storage-locations.ts'
import { recordAudit, toAuditedChanges } from '../core/audit.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { publishAfterWrite } from '../core/resource-writes.ts'
import { actionResultFields, apiRoute, jsonReply } from '../core/route.ts'
import { actionResultSchema, int64 } from '../core/schemas.ts'
import { findFreeShortName, stationsResource } from './stations.ts'

const parts = [
  'media_storage',
  'recordings_storage',
  'podcasts_storage',
  'playlists',
  'mounts',
  'remotes',
  'streamers',
  'permissions',
  'webhooks'
] as const
type Part = (typeof parts)[number]

const maxNameLength = 100
const copySuffix = ' - Copy'
const part = choiceField(parts, { about: 'A part to copy.' })
const description = textField({ max: 2_000, isLong: true, about: '' })
const fields = {
  name: textField({
    max: maxNameLength,
    isTrimmed: true,
    fallback: '',
    about: 'The name of the copy; empty: that of the station with "- Copy".',
    example: 'Harbour FM 2'
  }),
  description: validatedField<string | null>(v.nullable(description.input), {
    fallback: null,
    schema: { type: ['string', 'null'], maxLength: 2_000 },
    about: 'The description of the copy; null: that of the station.'
  }),
  clone: listField(part.input, {
    max: 20,
    items: part.schema,
    about: 'The parts to copy. With media_storage, the copy has the same songs, also in its playlists.'
  })
}
const validator = bodyValidator(fields)

interface Source {
  readonly id: number
  readonly name: string
  readonly description: string
  /** Null: its files are in a folder of its own. */
  readonly mediaLocationId: number | null
}

export const cloneStationRoute = apiRoute('POST', '/api/admin/station/:id/clone', 'administer stations', {
  id: 'cloneStation',
  tag: 'Stations',
  summary:
    'Copy a station with its settings, without passwords and without its history; web hooks are disabled',
  body: bodySchema(fields),
  errors: [409],
  response: actionResultSchema({ id: { ...int64, description: 'The id of the copy.' } }),
  async handle(request, services) {
    const values = parseBody(validator, request.body)
    const chosen = new Set<Part>(values.clone)
    const sourceId = parsePathId(request.params['id'])
    const id = await createStation(
      services,
      async tx => {
        const [source] = await tx<Source[]>`
          select id, name, description, media_storage_location_id as "mediaLocationId" from stations where id = ${sourceId} and deleted_at is null for share`
        if (!source) throw new ApiError('not-found')
        if (chosen.has('media_storage') && source.mediaLocationId === null) throw unsharedFolder()
        return insertCopy(tx, source, values, chosen)
      },
      async change => {
        const { tx, station } = change
        await copyParts(tx, { from: sourceId, to: station.id }, chosen)
        await addMissingPollRows(tx, station.id)
        change.mark(['station'])
        await recordAudit(tx, request, {
          record: 'Station',
          id: station.id,
          changes: toAuditedChanges(fields, null, values)
        })
      }
    )
    await publishAfterWrite(stationsResource, services, id)
    return jsonReply({ ...actionResultFields('Record created successfully.'), id })
  }
})

const unsharedFolder = () =>
  ApiError.ofFields(
    [
      fieldError(
        'clone.media_storage',
        'in_use',
        'needs a storage location: the files of this station are in a folder of its own.'
      )
    ],
    'conflict'
  )

/** Settings that belong to one station only: its names, its streaming server and its passwords. */
const ownSettings = new Set([
  'name',
  'short_name',
  'description',
  'frontend_url',
  'frontend_admin_password',
  'source_password',
  ...storageLocationReferences.map(([field]) => field)
])

async function insertCopy(
  tx: Tx,
  source: Source,
  values: ValuesOf<typeof fields>,
  chosen: ReadonlySet<Part>
) {
  const ending =
    Array.from(source.name)
      .slice(0, maxNameLength - copySuffix.length)
      .join('') + copySuffix
  const name = values.name || ending
  const shared = Object.entries(stationsResource.fields)
    .filter(([field, { isStored, kind }]) => isStored && kind !== 'read-only' && !ownSettings.has(field))
    .map(([field]) => toColumnName(field))
  const places = storageLocationReferences
    .filter(([, type]) => chosen.has(storageParts[type]))
    .map(([field]) => toColumnName(field))
  const copied = tx.unsafe([...shared, ...places].map(column => `"${column}"`).join(', '))
  const [inserted] = await tx<{ id: number }[]>`
    insert into stations (name, short_name, description, ${copied})
    select ${name}, ${await findFreeShortName(tx, name, 0)}, ${values.description ?? source.description}, ${copied}
    from stations where id = ${source.id} returning id`
  if (!inserted) throw new Error('insert returned no row')
  return inserted.id
}

const storageParts = {
  station_media: 'media_storage',
  station_recordings: 'recordings_storage',
  station_podcasts: 'podcasts_storage'
} as const satisfies Record<(typeof storageLocationReferences)[number][1], Part>

/** The station that is copied, and its copy. */
interface Stations {
  readonly from: number
  readonly to: number
}

async function copyParts(tx: Tx, ids: Stations, chosen: ReadonlySet<Part>): Promise<void> {
  if (chosen.has('media_storage')) await copySongs(tx, ids)
  if (chosen.has('playlists')) await copyPlaylists(tx, ids)
  if (chosen.has('mounts'))
    await copyRows(tx, 'hls_streams', ids, {
      ...fresh(
        tx,
        'mount_listeners_total',
        'mount_listeners_unique',
        'hls_listeners_total',
        'hls_listeners_unique'
      )
    })
  else
    await tx`insert into hls_streams (station_id, name, is_default) values (${ids.to}, ${defaultMountPath}, true)`
  if (chosen.has('remotes'))
    await copyRows(
      tx,
      'remotes',
      ids,
      { admin_password: tx`''`, ...fresh(tx, 'listeners_total', 'listeners_unique') },
      tx`relay_id is null`
    )
  if (chosen.has('streamers')) await copyRows(tx, 'streamers', ids, { schedule_items: newScheduleItems(tx) })
  if (chosen.has('permissions')) await copyPermissions(tx, ids)
  if (chosen.has('webhooks')) await copyWebhooks(tx, ids)
}

/** Counts of a copy, which begin with 0. */
const fresh = (tx: Tx, ...columns: readonly string[]) =>
  Object.fromEntries(columns.map(column => [column, tx`0`]))

/** The schedule of a copied row, whose items have ids of their own. */
const newScheduleItems = (tx: Tx) => tx`(
  select coalesce(jsonb_agg(item || jsonb_build_object('id', nextval('schedule_item_ids')) order by place), '[]')
  from jsonb_array_elements(schedule_items) with ordinality items (item, place))`

const newUniqueId = (tx: Tx) => tx`left(replace(gen_random_uuid()::text, '-', ''), 24)`

/**
 * Copies the rows of a station to another one. `changed` are the values of columns that differ. Returns the ids of the
 * rows and of their copies.
 */
async function copyRows(
  tx: Tx,
  table: string,
  { from, to }: Stations,
  changed: Readonly<Record<string, Fragment>>,
  where: Fragment = tx`true`
): Promise<readonly { readonly from: number; readonly to: number }[]> {
  const columns = await tx<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_generated = 'NEVER' and is_identity = 'NO'
      and column_name <> 'station_id'`
  const names = columns.map(({ name }) => name)
  const values = names.map(name => changed[name] ?? tx.unsafe(`"${name}"`))
  const selected = values.reduce((all, value) => tx`${all}, ${value}`, tx`${to}::bigint`)
  return tx<{ from: number; to: number }[]>`
    with copied as (
      insert into ${tx(table)} (station_id, ${tx.unsafe(names.map(name => `"${name}"`).join(', '))})
      select ${selected} from ${tx(table)} where station_id = ${from} and ${where} order by id
      returning id
    ), old as (
      select id, row_number() over (order by id) as place from ${tx(table)} where station_id = ${from} and ${where}
    ), new as (select id, row_number() over (order by id) as place from copied)
    select old.id as "from", new.id as "to" from old join new using (place)`
}

/** Copies the songs of the library with their custom fields. */
async function copySongs(tx: Tx, { from, to }: Stations): Promise<void> {
  const columns = await tx<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = current_schema() and table_name = 'media' and is_generated = 'NEVER' and is_identity = 'NO'
      and column_name not in ('station_id', 'unique_id')`
  const copied = tx.unsafe(columns.map(({ name }) => `"${name}"`).join(', '))
  await tx`
    insert into media (station_id, unique_id, ${copied})
    select ${to}::bigint, ${newUniqueId(tx)}, ${copied}
    from media where station_id = ${from} and remote_playlist_id is null`
  await tx`
    insert into media_custom_fields (media_id, field_id, value, is_from_tag)
    select new.id, f.field_id, f.value, f.is_from_tag
    from media old join media_custom_fields f on f.media_id = old.id
      join media new on new.station_id = ${to} and new.path = old.path and new.remote_playlist_id is null
    where old.station_id = ${from} and old.remote_playlist_id is null`
  await tx`
    insert into media_folders (station_id, path) select ${to}::bigint, path from media_folders where station_id = ${from}`
}

/** Copies playlists with their folders, the entries of remote ones, and the songs that the copy has. */
async function copyPlaylists(tx: Tx, ids: Stations): Promise<void> {
  const { from, to } = ids
  const copies = await copyRows(tx, 'playlists', ids, {
    schedule_items: newScheduleItems(tx),
    pass: tx`1`,
    ...fresh(tx, 'fetched_at_ms', 'fetch_at_ms'),
    fetch_problem: tx`''`,
    failing_since_ms: tx`null`
  })
  if (copies.length === 0) return
  const mapping = tx`jsonb_to_recordset(${tx.json(copies.map(each => ({ ...each })))}) as p ("from" bigint, "to" bigint)`
  await copyRows(
    tx,
    'media',
    ids,
    {
      unique_id: newUniqueId(tx),
      remote_playlist_id: tx`(select p."to" from ${mapping} where p."from" = remote_playlist_id)`
    },
    tx`remote_playlist_id in (select p."from" from ${mapping})`
  )
  await tx`
    insert into playlist_folders (playlist_id, path)
    select p."to", f.path from ${mapping} join playlist_folders f on f.playlist_id = p."from"`
  await tx`
    insert into playlist_tracks (playlist_id, media_id, repeated_media_id, position, is_from_folder)
    select p."to", case when not t.is_repeat then new.id end, case when t.is_repeat then new.id end, t.position, t.is_from_folder
    from ${mapping} join playlist_entries t on t.playlist_id = p."from"
      join media old on old.id = t.media_id
      join media new on new.station_id = ${to} and new.path = old.path
        and new.remote_playlist_id is not distinct from case when old.remote_playlist_id is null then null else p."to" end
    where old.station_id = ${from}`
}

/** Roles that have permissions for the station have the same for the copy. */
async function copyPermissions(tx: Tx, { from, to }: Stations): Promise<void> {
  await tx`
    update roles set station_permissions = station_permissions
      || jsonb_build_object(${String(to)}::text, station_permissions -> ${String(from)}::text)
    where station_permissions ? ${String(from)}::text`
}

interface HookRow {
  readonly name: string
  readonly type: string
  readonly triggers: readonly string[]
  readonly config: HookConfig
}

/** Copies web hooks without their secrets, so they are disabled until these are entered. */
async function copyWebhooks(tx: Tx, { from, to }: Stations): Promise<void> {
  const hooks = await tx<HookRow[]>`
    select name, type, triggers, config from webhooks where station_id = ${from} order by id`
  for (const { name, type: typeName, triggers, config } of hooks) {
    const type = getHookType(typeName)
    const kept = config.filter(({ key }) => !isSecretSetting(type, key) && !isGeneratedSetting(type, key))
    const row = {
      station_id: to,
      name,
      type: typeName,
      is_enabled: false,
      triggers: tx.json([...triggers]),
      config: tx.json(kept.map(each => ({ ...each })))
    }
    await tx`insert into webhooks ${tx(row)}`
  }
}
