import type { Playlist, PlaylistOption } from '../../model/autodj/library.ts'
import { buildTrackColumns } from '../../model/autodj/track-columns.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { PlaylistValues, UnsavedPlaylist } from './unsaved-playlists.ts'

/** The settings on which the songs of a playlist depend. */
export interface PlaylistSource {
  readonly id: number
  readonly source: string
  readonly remote_url: string
  readonly remote_type: string
}

/** Reads the sources of those playlists that the station has. */
export async function readPlaylistSources(
  sql: Sql | Tx,
  stationId: number,
  unsaved: readonly UnsavedPlaylist[]
): Promise<PlaylistSource[]> {
  const ids = unsaved.flatMap(each => each.id ?? [])
  if (ids.length === 0) return []
  return sql<PlaylistSource[]>`
    select id, source, remote_url, remote_type from playlists
    where station_id = ${stationId} and id = any(${ids}::bigint[])`
}

/** Playlists with unsaved settings. New ones have the negative position in the body as id: -1, -2 ... */
export interface ChangedPlaylists {
  readonly playlists: readonly Playlist[]
  /** The ids of those whose songs are known only after they are saved. */
  readonly notLoaded: ReadonlySet<number>
}

/** Applies unsaved settings to the stored playlists, as saving them would. */
export function applyUnsavedPlaylists(
  stored: readonly Playlist[],
  sources: readonly PlaylistSource[],
  unsaved: readonly UnsavedPlaylist[]
): ChangedPlaylists {
  const notLoaded = new Set<number>()
  const changes = new Map(unsaved.flatMap(each => (each.id === undefined ? [] : [[each.id, each] as const])))
  const changed = stored.map(playlist => {
    const values = changes.get(playlist.id)
    const source = sources.find(each => each.id === playlist.id)
    if (!values || !source) return playlist
    if (changesSongs(source, values)) {
      notLoaded.add(playlist.id)
      return { ...applyValues(playlist, { ...source, ...values }), tracks: noTracks }
    }
    return applyValues(playlist, { ...source, ...values })
  })
  const added = unsaved.flatMap((values, index) =>
    values.id === undefined ? [applyValues({ ...newPlaylist, id: -1 - index }, values)] : []
  )
  return { playlists: [...changed, ...added], notLoaded }
}

const noTracks = buildTrackColumns([])

const newPlaylist: Playlist = {
  id: 0,
  name: '',
  type: 'default',
  source: 'songs',
  order: 'shuffle',
  weight: 3,
  isEnabled: true,
  isJingle: false,
  avoidsDuplicates: true,
  everySongs: 0,
  everyMinutes: 0,
  hourMinute: 0,
  options: new Set(),
  schedule: [],
  pass: 1,
  tracks: noTracks
}

function changesSongs(stored: PlaylistSource, values: PlaylistValues): boolean {
  const next = { ...stored, ...values }
  if (next.source !== stored.source) return true
  if (next.source === 'songs') return false
  return next.remote_url !== stored.remote_url || next.remote_type !== stored.remote_type
}

type SettingValues = Omit<PlaylistValues, 'source' | 'remote_type'> & {
  readonly source?: string
  readonly remote_type?: string
}

function applyValues(playlist: Playlist, values: SettingValues): Playlist {
  const { source, remote_type: remoteType = 'stream', schedule_items: items } = values
  const order = values.order ?? playlist.order
  return {
    ...playlist,
    name: values.name ?? playlist.name,
    type: source === 'remote_url' ? 'default' : (values.type ?? playlist.type),
    source:
      source === undefined
        ? playlist.source
        : source === 'songs'
          ? 'songs'
          : remoteType === 'playlist'
            ? 'list'
            : 'stream',
    order,
    // A new order begins a new pass.
    pass: order === playlist.order ? playlist.pass : nextPass(playlist),
    weight: values.weight ?? playlist.weight,
    isEnabled: values.is_enabled ?? playlist.isEnabled,
    isJingle: values.is_jingle ?? playlist.isJingle,
    avoidsDuplicates: values.avoid_duplicates ?? playlist.avoidsDuplicates,
    everySongs: values.play_per_songs ?? playlist.everySongs,
    everyMinutes: values.play_per_minutes ?? playlist.everyMinutes,
    hourMinute: values.play_per_hour_minute ?? playlist.hourMinute,
    options:
      values.backend_options === undefined
        ? playlist.options
        : new Set(values.backend_options.split(',').filter(isOption)),
    schedule: items?.map((item, index) => ({ ...item, id: item.id || -1 - index })) ?? playlist.schedule
  }
}

const nextPass = ({ pass, tracks }: Playlist) =>
  1 + tracks.lastPass.reduce((most, each) => Math.max(most, each), pass)

const options: ReadonlySet<string> = new Set([
  'interrupt',
  'single_track',
  'merge',
  'prioritize',
  'loop_once'
] satisfies PlaylistOption[])
const isOption = (name: string): name is PlaylistOption => options.has(name)
