import type { JsonBody, Program } from './program.ts'
import { waitFor } from './wait.ts'

/** Stations of a small network, with data for every page of an operator. */
const stations = [
  { name: 'Harbour FM', description: 'Slow radio by the sea', timezone: 'Europe/Berlin', queue_length: 6 },
  { name: 'Nachtfalter', description: 'Electronic music after dark', timezone: 'Europe/Berlin' },
  { name: 'Radio Meridian', description: 'Songs from both sides of the equator', timezone: 'Africa/Lagos' },
  { name: 'The Reading Room', description: 'Poems and piano', timezone: 'Europe/London' },
  { name: 'Kiosk', description: 'What the corner shop plays', timezone: 'Europe/Lisbon' },
  { name: 'Archive One', description: 'From the shelves', timezone: 'UTC', is_enabled: false }
] as const

const songs = [
  ['Nils Okada', 'Paper Lanterns', 'Low Water', 215],
  ['Mara Quist', 'Tidewater', 'Estuary', 248],
  ['The Low Signals', 'Night Ferry', 'Harbour Lights', 301],
  ['Ines Okafor', 'A Room Above the Sea', 'Rooms', 187],
  ['Sol Arden', 'Glass Hours', 'Glass Hours', 264],
  ['Halvorsen & Daughter', 'Pilot Boat', 'Salt', 203],
  ['Wren Adeyemi', 'Slow Weather', 'Almanac', 231],
  ['Teodora Lind', 'Seven Small Bridges', 'Crossings', 276],
  ['Kite Choir', 'Everything Is Further Than It Looks', 'Telescope', 322],
  ['Bahia Noon', 'Corrente', 'Corrente', 198],
  ['Paul Esterhazy', 'Two Chairs in the Rain', 'Verandas', 241],
  ['Junia Roe', 'Milk and Radio', 'Kitchen Songs', 177],
  ['Ola Mbeki Trio', 'Long Shadow Short Street', 'Quarter to Six', 355],
  ['Clara Voss', 'North by Lamplight', 'Meridians', 289],
  ['', 'You hear the harbour', 'Idents', 8]
] as const

const at = (start: number, end: number, days: readonly number[] = []) => ({
  start_time: start,
  end_time: end,
  start_date: '',
  end_date: '',
  days,
  loop_once: false
})

const playlists = [
  { name: 'Rotation', weight: 5 },
  { name: 'New this month', weight: 3 },
  { name: 'Breakfast on the Quay', schedule_items: [at(600, 900, [1, 2, 3, 4, 5])] },
  { name: 'Weekend Slow', schedule_items: [at(800, 1200, [6, 7])] },
  { name: 'Lunch Hour', schedule_items: [at(1200, 1330, [1, 2, 3, 4, 5])] },
  { name: 'Listeners’ Hour', schedule_items: [at(1800, 2000, [2, 4])] },
  { name: 'Night Watch', schedule_items: [at(2200, 200)] },
  { name: 'Jazz from the Cellar', schedule_items: [at(2000, 2300, [5, 6])] },
  { name: 'Station idents', type: 'once_per_x_songs', play_per_songs: 20, is_jingle: true },
  { name: 'News at the hour', type: 'once_per_hour', play_per_hour_minute: 0, is_enabled: false }
]

const manualRows = [
  { id: 3, position: 2 },
  { id: 7, position: 4 }
]

/**
 * Creates the network and waits until it plays. Web hooks call `hookUrl`. Returns the short name of its first
 * station.
 */
export async function makeNetwork({ ask, sql }: Program, hookUrl: string): Promise<string> {
  const make = async (path: string, body: object, method = 'POST'): Promise<JsonBody> => {
    const response = await ask(method, path, { body })
    if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`)
    return response.body
  }
  const ids: number[] = []
  for (const station of stations) {
    const { id } = await make('/api/admin/stations', station)
    ids.push(id)
    const isFirst = ids.length === 1
    const media: number[] = []
    for (const [artist, title, album, length] of songs) {
      const file = await make(`/api/station/${id}/files`, {
        path: `${album}/${title}.mp3`,
        artist,
        title,
        album,
        length
      })
      media.push(file.id)
    }
    for (const playlist of isFirst ? playlists : playlists.slice(0, 1)) {
      const { id: playlistId } = await make(`/api/station/${id}/playlists`, playlist)
      const tracks = 'is_jingle' in playlist ? media.slice(-1) : media.slice(0, -1)
      await sql`insert into playlist_tracks (playlist_id, media_id, position)
        select ${playlistId}, x.id, x.place from unnest(${tracks}::bigint[]) with ordinality as x (id, place)`
    }
    await sql`insert into artwork (hash, content_type, bytes) values ('drawn', 'image/png', '') on conflict do nothing`
    await sql`update media set artwork_hash = 'drawn' where station_id = ${id}`
    await make(`/api/admin/station/${id}`, { is_enabled: station.name !== 'Archive One' }, 'PUT')
    await countADay(sql, id, ids.length)
  }
  const [first = 0] = ids
  await make(`/api/station/${first}/webhooks`, {
    type: 'generic',
    name: 'Studio display',
    config: { webhook_url: `${hookUrl}/display` },
    triggers: ['song_changed', 'live_connect', 'live_disconnect']
  })
  await make(`/api/station/${first}/webhooks`, {
    type: 'generic',
    name: 'Website',
    config: { webhook_url: `${hookUrl}/broken` },
    triggers: ['song_changed']
  })
  await make(`/api/station/${first}/streamers`, {
    streamer_username: 'wren',
    streamer_password: 'a long enough password',
    display_name: 'DJ Wren',
    schedule_items: [at(1800, 2000, [2, 4])],
    enforce_schedule: true
  })
  for (const [path, storageQuota] of [
    ['/srv/radio/harbour', '50 GB'],
    ['/srv/radio/shared', '200 GB']
  ])
    await make('/api/admin/storage_locations', {
      type: 'station_media',
      adapter: 'local',
      path,
      storageQuota
    })
  // A count in flight would overwrite these values. It is claimed for six minutes, and then runs every five.
  const isMeasured = async () =>
    (
      await sql`select from storage_locations where measure_at > now() and measure_at < now() + interval '345 seconds'`
    ).count === 2
  await waitFor(isMeasured, { deadlineMs: 20_000, what: 'the storage to be measured' })
  await sql`update storage_locations set used_bytes = (38 + 100 * (1 - id % 2)) * 1000000000::bigint,
    free_bytes = null, measure_at = now() + interval '1 day'`
  await make('/api/v1/main/notifications', {
    title: 'Storage will be moved on Sunday',
    body: 'Uploads rest from 03:00 to 04:00. Nothing else changes.',
    type: 'info'
  })
  const playing = async () => {
    const { body } = await ask('GET', '/api/nowplaying', { key: '' })
    return body.filter((np: JsonBody) => np.is_online).length >= stations.length - 1
  }
  await waitFor(playing, { deadlineMs: 20_000, what: 'the network to play' })
  for (const [index, id] of ids.entries())
    if (index < 5) await make(`/api/station/${id}/listeners`, { total: listenerCountAt(index + 1, 0) }, 'PUT')
  for (const { id: index, position } of manualRows) {
    const [file] = await sql<{ id: number }[]>`
      select id from media where station_id = ${first} order by id offset ${index} limit 1`
    await make(`/api/station/${first}/queue`, { media_id: file?.id, position })
  }
  return 'harbour_fm'
}

/** Rewrites the times of past plays of a station as if none had been skipped. */
export async function spreadHistory({ sql }: Program, shortName: string): Promise<void> {
  await sql`
    update song_history h set started_at_ms = x.ends_at_ms - 240000, ended_at_ms = x.ends_at_ms,
      listeners_start = x.listeners, listeners_end = x.listeners + x.place % 4 - 1
    from (
      select h.id, p.place, p.place * 7 % 5 + 24 as listeners, min(h.started_at_ms) over () - 240000 * (p.place - 1) as ends_at_ms
      from song_history h join stations s on s.id = h.station_id
        cross join lateral (select count(*) + 1 as place from song_history l
          where l.station_id = h.station_id and l.id > h.id and l.ended_at_ms is not null) p
      where s.short_name = ${shortName} and h.ended_at_ms is not null) x
    where x.id = h.id`
}

/** Listener counts of a day: few at night, most in the evening. */
async function countADay(sql: Program['sql'], stationId: number, size: number): Promise<void> {
  const now = Math.floor(Date.now() / 60_000)
  const rows = Array.from({ length: 288 }, (_, index) => {
    const total = listenerCountAt(size, 1_440 - index * 5)
    return {
      station_id: stationId,
      minute: now - 1_440 + index * 5,
      total,
      unique: total,
      most: total + (index % 4),
      fewest: Math.max(0, total - (index % 3))
    }
  })
  await sql`insert into listener_minutes ${sql(rows)} on conflict do nothing`
}

/** The number of listeners this number of minutes ago. */
function listenerCountAt(size: number, minutesAgo: number): number {
  const hour = (Date.now() / 60_000 - minutesAgo) / 60
  const day = 1 + Math.sin(((hour - 13) / 24) * 2 * Math.PI) + 0.3 * Math.sin(hour * 1.7 + size)
  return Math.max(0, Math.round((day * 60) / size + 3 * Math.sin(minutesAgo / 17)))
}
