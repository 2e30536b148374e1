import type {
  CurrentPlay,
  ListenerCount,
  ShownMount,
  ShownPlay,
  PlayCounts,
  RemoteStream,
  StationProfile,
  StationSnapshot
} from '../../model/station/state.ts'
import type { Sql, Tx } from './sql.ts'

interface SnapshotRow extends Omit<
  StationSnapshot,
  'profile' | 'listeners' | 'shown' | 'history' | 'current' | 'counts'
> {
  profile: Omit<StationProfile, 'mounts' | 'remotes'>
  historyLength: number
  listeners: ListenerCount
  hasListenerHooks: boolean
  mounts: (ShownMount & CountedSource & { hls: ListenerCount })[]
  remotes: (RemoteStream & CountedSource)[]
  current: (CurrentPlay & { counts: Omit<PlayCounts, 'id'> }) | null
  plays: ShownPlay[]
}

interface CountedSource {
  isShown: boolean
  count: ListenerCount
}

/** Reads what stations show, in one statement; unknown and deleted stations are left out. */
export async function readSnapshots(sql: Sql | Tx, stationIds: readonly number[]) {
  const song = (row: 'h' | 'm') => sql`json_build_object(
    'id', ${sql(row)}.song_id, 'artist', ${sql(row)}.artist, 'title', ${sql(row)}.title,
    'album', ${sql(row)}.album, 'genre', ${sql(row)}.genre, 'isrc', ${sql(row)}.isrc,
    'lyrics', coalesce(m.lyrics, ''), 'artId', ${artIdFragment(sql, row)}, 'customFields', ${mediaFieldValuesFragment(sql)})`
  const statement = sql<SnapshotRow[]>`
    select s.id as "stationId", s.epoch, s.history_length as "historyLength",
      json_build_object('station', s.station_revision, 'playback', s.playback_revision,
        'queue', s.queue_revision, 'listeners', s.listeners_revision, 'live', s.live_revision) as revisions,
      json_build_object('name', s.name, 'shortName', s.short_name, 'description', s.description, 'url', s.url,
        'timezone', s.timezone, 'frontend', s.frontend, 'backend', s.backend, 'isPublic', s.is_public,
        'hlsEnabled', s.hls_enabled, 'hlsIsDefault', s.hls_is_default, 'offlineText', s.offline_text, 'requestsEnabled', s.enable_requests,
        'listenTokenGeneration', s.listen_token_generation,
        'customFields', ${customFieldDefinitionsFragment(sql)}) as profile,
      json_build_object('total', s.listeners_total, 'unique', s.listeners_unique) as listeners,
      exists (select from webhooks w where w.station_id = s.id and w.is_enabled
        and (w.triggers = '[]' or w.triggers ?| array['listener_gained', 'listener_lost'])) as "hasListenerHooks",
      coalesce((
        select json_agg(json_build_object('id', x.id, 'path', x.name, 'displayName', x.display_name,
          'bitrate', x.autodj_bitrate, 'format', x.autodj_format, 'hasAutodj', x.enable_autodj,
          'customUrl', x.custom_listen_url, 'isDefault', x.is_default,
          'isShown', x.is_visible_on_public_pages and (s.frontend <> 'remote' or x.custom_listen_url <> ''),
          'count', json_build_object('total', x.mount_listeners_total, 'unique', x.mount_listeners_unique),
          'hls', json_build_object('total', x.hls_listeners_total, 'unique', x.hls_listeners_unique)) order by x.id)
        from hls_streams x where x.station_id = s.id), '[]') as mounts,
      coalesce((
        select json_agg(json_build_object('id', x.id, 'name', x.name, 'url', x.url, 'bitrate', x.bitrate,
          'format', x.format, 'isShown', x.is_visible,
          'count', json_build_object('total', x.listeners_total, 'unique', x.listeners_unique)) order by x.id)
        from remotes x where x.station_id = s.id), '[]') as remotes,
      (select json_build_object('shId', h.id, 'dueAtMs', h.due_at_ms, 'isVisible', h.is_visible,
          'counts', json_build_object('start', h.listeners_start, 'gained', h.delta_positive,
            'lost', h.delta_negative, 'peak', h.listeners_peak, 'unique', h.unique_listeners))
        from song_history h where h.station_id = s.id and h.ended_at_ms is null) as current,
      coalesce((
        select json_agg(json_build_object('shId', h.id, 'startedAtMs', h.started_at_ms,
          'durationMs', case when h.duration_ms = 0 and h.ended_at_ms is not null
            then h.ended_at_ms - h.started_at_ms else h.duration_ms end,
          'playlist', h.playlist, 'streamer', h.streamer, 'isRequest', h.is_request, 'song', ${song('h')})
          order by h.started_at_ms desc, h.id desc)
        from (
          select * from (
            select * from song_history where station_id between s.id and s.id and is_visible
            order by station_id desc, started_at_ms desc, id desc limit 51
          ) newest limit s.history_length + 1
        ) h left join media m on m.id = h.media_id), '[]') as plays,
      (select json_build_object('cuedAtMs', q.cued_at_ms, 'playsAtMs', q.plays_at_ms,
          'durationMs', q.duration_ms, 'playlist', coalesce(p.name, ''), 'isRequest', q.is_request,
          'song', ${song('m')})
        from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id
        where q.station_id = s.id and q.played_at_ms is null and q.skipped_at_ms is null and q.is_visible
        order by q.is_sent desc, q.position limit 1) as next,
      (select json_build_object('streamerName', b.streamer_name, 'startedAtMs', b.started_at_ms, 'art', coalesce((
          select '/api/station/' || s.short_name || '/streamer/' || u.id || '/art-' || left(u.artwork_hash, 8) || '.jpg'
          from streamers u where u.id = b.streamer_id and u.artwork_hash is not null), ''))
        from broadcasts b where b.station_id = s.id and b.ended_at_ms is null) as live
    from stations s where s.id = any(${[...stationIds]}::bigint[]) and s.deleted_at is null`
  // Sent at once, so that a transaction may end without awaiting it.
  return (await statement.execute()).map(snapshotOf)
}

/** The media `m` as a song of the state. */
export function songFragment(sql: Sql | Tx) {
  return sql`json_build_object('id', m.song_id, 'artist', m.artist, 'title', m.title, 'album', m.album,
    'genre', m.genre, 'isrc', m.isrc, 'lyrics', m.lyrics, 'artId', ${artIdFragment(sql, 'm')},
    'customFields', ${mediaFieldValuesFragment(sql)})`
}

/** All custom fields, in order of id. */
export function customFieldDefinitionsFragment(sql: Sql | Tx) {
  return sql`coalesce((select json_agg(json_build_object('id', f.id, 'shortName', f.short_name) order by f.id)
    from custom_fields f), '[]')`
}

/** The custom field values of a media, by field id. Skips the lookup if no fields are defined. */
export function mediaFieldValuesFragment(sql: Sql | Tx) {
  return sql`case when exists (select from custom_fields) then coalesce((
    select json_object_agg(f.field_id, f.value) from media_custom_fields f where f.media_id = m.id and f.value <> ''), '{}')
    else '{}' end`
}

/**
 * The last part of the path of a cover: the unique id of the media `m`, or of a lookup if the media has no cover,
 * and a version of the picture. The lookup is that of the song of a play `h` or of the media.
 */
export function artIdFragment(sql: Sql | Tx, song: 'h' | 'm') {
  return sql`case when m.artwork_hash is not null then m.unique_id || '-' || left(m.artwork_hash, 8) else coalesce((
    select c.unique_id || '-' || left(c.artwork_hash, 8) from cover_lookups c
    where c.title_key = ${sql(song)}.title_key and c.artist_keys = ${sql(song)}.artist_keys), '') end`
}

function snapshotOf({
  historyLength,
  plays,
  mounts,
  remotes,
  listeners,
  hasListenerHooks: hasHooks,
  current,
  ...row
}: SnapshotRow): StationSnapshot {
  const [playing, playCounts] = splitCurrent(current)
  const shown = current === null ? null : (plays[0] ?? null)
  const ended = shown === null ? plays : plays.slice(1)
  const [shownMounts, shownRemotes] = [mounts.filter(isShown), remotes.filter(isShown)]
  return {
    ...row,
    current: playing,
    shown,
    history: ended.slice(0, historyLength),
    profile: {
      ...row.profile,
      mounts: shownMounts.map(withoutCounts),
      remotes: shownRemotes.map(withoutCounts)
    },
    listeners: {
      ...listeners,
      mounts: countsById(shownMounts),
      remotes: countsById(shownRemotes),
      hls: mounts.reduce((sum, { hls }) => sum + hls.total, 0)
    },
    counts: {
      ...listeners,
      hasHooks,
      play: playCounts,
      sources: Object.fromEntries([
        ...mounts.map(({ id, path, isShown: is, count }) => [`mount:${id}`, { ...count, path, isShown: is }]),
        ...mounts.map(({ id, path, hls }) => [`hls:${id}`, { ...hls, path, isShown: false }]),
        ...remotes.map(({ id, url, isShown: is, count }) => [
          `remote:${id}`,
          { ...count, path: url, isShown: is }
        ])
      ])
    }
  }
}

/** Separates the current play from its listeners. */
function splitCurrent(current: SnapshotRow['current']): [CurrentPlay | null, PlayCounts | null] {
  if (current === null) return [null, null]
  const { counts, ...play } = current
  return [play, { id: play.shId, ...counts }]
}

const isShown = (source: CountedSource) => source.isShown

const withoutCounts = <T extends CountedSource & { hls?: ListenerCount }>({
  count: _count,
  hls: _hls,
  isShown: _isShown,
  ...source
}: T) => source

const countsById = (
  sources: readonly { id: number; count: ListenerCount }[]
): Record<string, ListenerCount> => Object.fromEntries(sources.map(({ id, count }) => [id, count]))
