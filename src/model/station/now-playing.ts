import {
  type CuedSong,
  isStationOnline,
  type ShownMount,
  type ShownPlay,
  type ShownSong,
  type StationState
} from './state.ts'

/**
 * `rest`: as documented for the REST API. `event`: as clients of push, static files and web hooks expect. They differ
 * only in `live.broadcast_start`, `live.art`, `song.custom_fields` and `cache`. `azuracast` and `azuracast event`: as
 * AzuraCast answers and pushes. They differ from `event` in `station`, in `song.text`, in `cache`, and in `elapsed` of
 * a song of unknown length.
 */
export type NowPlayingVariant = 'rest' | 'event' | 'azuracast' | 'azuracast event'

const isAzuracast = (variant: NowPlayingVariant) => variant === 'azuracast' || variant === 'azuracast event'

/** A now-playing document, rendered once per change. Its JSON text is `head` + `renderElapsed()` + `tail`. */
export interface NowPlayingDocument {
  readonly head: string
  readonly tail: string
  /** Unix seconds; `duration` in seconds. If not `isRunning`, elapsed equals the duration. */
  readonly playedAt: number
  readonly duration: number
  readonly isRunning: boolean
  /** Whether `elapsed` grows while a song of unknown length plays; otherwise it is 0. */
  readonly isOpenEnded: boolean
}

/** The song id of the offline song and of every empty text: the MD5 of `stationoffline`. */
const offlineSongId = '5a6a865199cf5df73b1417326d2ff24f'

/** Path of the default cover. */
export const genericArtPath = '/static/img/generic_song.jpg'

const toSeconds = (ms: number) => Math.floor(ms / 1000)

/** Renders a document. `baseUrl` has no trailing slash. */
export function renderNowPlaying(
  state: StationState,
  rendering: NowPlayingVariant,
  baseUrl: string
): NowPlayingDocument {
  const { shown, live } = state
  const playing = renderPlayObject(state, shown ?? offlinePlay(state), rendering, baseUrl)
  const before = {
    station: isAzuracast(rendering)
      ? renderAzuracastStation(state, baseUrl)
      : renderStationObject(state, baseUrl),
    listeners: renderCount(state.listeners),
    live: {
      is_live: live !== null,
      streamer_name: live?.streamerName ?? '',
      broadcast_start: renderBroadcastStart(live?.startedAtMs, rendering),
      art: live?.art ? toAbsoluteUrl(live.art, baseUrl) : rendering === 'rest' ? '' : null
    },
    now_playing: { ...playing, song: { ...playing.song, art: shownArtUrl(state, baseUrl) } }
  }
  const after = {
    playing_next: state.next === null ? null : renderCuedObject(state, state.next, rendering, baseUrl),
    song_history: state.history.map(play => renderPlayObject(state, play, rendering, baseUrl)),
    is_online: isStationOnline(state),
    cache: rendering === 'rest' || rendering === 'azuracast' ? 'hit' : 'event'
  }
  return {
    head: `${JSON.stringify(before).slice(0, -2)},`,
    tail: `},${JSON.stringify(after).slice(1)}`,
    playedAt: playing.played_at,
    duration: playing.duration,
    isRunning: shown !== null && state.current?.shId === shown.shId,
    isOpenEnded: playing.duration === 0 && isAzuracast(rendering)
  }
}

/** Renders `elapsed` (0 to the duration) and `remaining` at a time. */
export function renderElapsed(document: NowPlayingDocument, nowSeconds: number): string {
  const elapsed = elapsedSecondsAt(document, nowSeconds)
  return `"elapsed":${elapsed},"remaining":${Math.max(document.duration - elapsed, 0)}`
}

/** Elapsed whole seconds of the shown song. Document and elapsed time determine the text. */
export function elapsedSecondsAt(
  { playedAt, duration, isRunning, isOpenEnded }: NowPlayingDocument,
  nowSeconds: number
): number {
  return isRunning
    ? Math.min(Math.max(nowSeconds - playedAt, 0), isOpenEnded ? Infinity : duration)
    : duration
}

/** The shown song as `Artist - Title` without an empty part, or the name of the station. */
export function renderSongLine({ shown, profile }: StationState): string {
  const { artist, title } = shown?.song ?? { artist: '', title: profile.offlineText }
  return joinNames(artist, title) || profile.name
}

/** The URL of the song's cover, else the picture of the live streamer, else the default cover. */
export function shownArtUrl({ shown, live, profile }: StationState, baseUrl: string): string {
  const artId = shown?.song.artId ?? ''
  if (artId === '' && shown !== null && live?.art) return toAbsoluteUrl(live.art, baseUrl)
  return songArtUrl(artId, profile.shortName, baseUrl)
}

/** The `station` object of the REST API (19 keys). */
export function renderStationObject(state: StationState, baseUrl: string) {
  const { profile, listeners } = state
  const { shortName } = profile
  const mounts = profile.mounts.map(mount => ({
    id: mount.id,
    name: mountDisplayName(mount),
    url: mountUrl(shortName, mount, baseUrl),
    bitrate: mount.bitrate,
    format: mount.format,
    listeners: renderCount(listeners.mounts[mount.id]),
    path: mount.path,
    is_default: mount.isDefault
  }))
  const remotes = profile.remotes.map(({ id, name, url, bitrate, format }) => {
    return { id, name, url, bitrate, format, listeners: renderCount(listeners.remotes[id]) }
  })
  const defaultMount = profile.mounts.find(mount => mount.isDefault) ?? profile.mounts[0]
  return {
    id: state.stationId,
    name: profile.name,
    shortcode: shortName,
    description: profile.description,
    frontend: profile.frontend,
    backend: profile.backend,
    timezone: profile.timezone,
    listen_url: defaultMount ? mountUrl(shortName, defaultMount, baseUrl) : (profile.remotes[0]?.url ?? ''),
    url: profile.url,
    public_player_url: `${baseUrl}/public/${shortName}`,
    playlist_pls_url: `${baseUrl}/public/${shortName}/playlist.pls`,
    playlist_m3u_url: `${baseUrl}/public/${shortName}/playlist.m3u`,
    is_public: profile.isPublic,
    mounts,
    remotes,
    hls_enabled: profile.hlsEnabled,
    hls_is_default: profile.hlsIsDefault,
    hls_url: profile.hlsEnabled ? `${baseUrl}/hls/${shortName}/live.m3u8` : '',
    hls_listeners: listeners.hls
  }
}

/** AzuraCast has no station that the clock plays. It is shown as played by Liquidsoap. */
export const toAzuracastBackend = (backend: string): string => (backend === 'clock' ? 'liquidsoap' : backend)

/** The `station` object as AzuraCast answers it: unknown addresses, bitrates and formats are null. */
export function renderAzuracastStation(state: StationState, baseUrl: string) {
  const station = renderStationObject(state, baseUrl)
  const { profile } = state
  const withAutodj = new Set(profile.mounts.filter(mount => mount.hasAutodj).map(({ id }) => id))
  const hasHls = profile.hlsEnabled && profile.backend !== 'none'
  return {
    ...station,
    backend: toAzuracastBackend(profile.backend),
    listen_url: station.listen_url || null,
    url: station.url || null,
    requests_enabled: profile.requestsEnabled ?? false,
    mounts: station.mounts.map(mount =>
      withAutodj.has(mount.id) ? mount : { ...mount, bitrate: null, format: null }
    ),
    remotes: station.remotes.map(remote => ({
      ...remote,
      bitrate: remote.bitrate || null,
      format: remote.format || null
    })),
    hls_enabled: hasHls,
    hls_is_default: hasHls && profile.hlsIsDefault,
    hls_url: hasHls ? station.hls_url : null
  }
}

/** The `song` object of the REST API (10 keys). */
export function renderSongObject(
  song: ShownSong,
  station: { shortName: string; customFields: readonly { id: number; shortName: string }[] },
  rendering: NowPlayingVariant,
  baseUrl: string
) {
  return {
    id: song.id,
    art: songArtUrl(song.artId, station.shortName, baseUrl),
    custom_fields: renderCustomFields(song, station.customFields, rendering),
    text: isAzuracast(rendering) ? renderAzuracastSongText(song) : joinNames(song.artist, song.title),
    artist: song.artist,
    title: song.title,
    album: song.album,
    genre: song.genre,
    isrc: song.isrc,
    lyrics: song.lyrics
  }
}

const joinNames = (...names: readonly string[]) => names.filter(name => name !== '').join(' - ')

/** The text of a song as AzuraCast derives it: with the album, which streams do not send. */
export const renderAzuracastSongText = ({
  artist,
  album,
  title
}: Pick<ShownSong, 'artist' | 'album' | 'title'>) => joinNames(artist, album, title)

/** The URL of a song's cover, or of the default cover. */
export function songArtUrl(artId: string, shortName: string, baseUrl: string): string {
  return toAbsoluteUrl(artId ? `/api/station/${shortName}/art/${artId}.jpg` : genericArtPath, baseUrl)
}

function renderCustomFields(
  song: ShownSong,
  fields: readonly { id: number; shortName: string }[],
  rendering: NowPlayingVariant
) {
  if (rendering === 'rest' || fields.length === 0)
    return fields.map(field => song.customFields[field.id] ?? '')
  return Object.fromEntries(fields.map(field => [field.shortName, song.customFields[field.id] ?? null]))
}

export function renderPlayObject(
  state: StationState,
  play: ShownPlay,
  rendering: NowPlayingVariant,
  baseUrl: string
) {
  return {
    sh_id: play.shId,
    played_at: toSeconds(play.startedAtMs),
    duration: toSeconds(play.durationMs),
    playlist: play.playlist,
    streamer: play.streamer,
    is_request: play.isRequest,
    song: renderSongObject(play.song, state.profile, rendering, baseUrl)
  }
}

export function renderCuedObject(
  state: StationState,
  next: CuedSong,
  rendering: NowPlayingVariant,
  baseUrl: string
) {
  return {
    cued_at: toSeconds(next.cuedAtMs),
    played_at: toSeconds(next.playsAtMs),
    duration: toSeconds(next.durationMs),
    playlist: next.playlist,
    is_request: next.isRequest,
    song: renderSongObject(next.song, state.profile, rendering, baseUrl)
  }
}

function offlinePlay({ profile }: StationState): ShownPlay {
  const noTags = { artist: '', album: '', genre: '', isrc: '', lyrics: '', artId: '', customFields: {} }
  const song = { id: offlineSongId, title: profile.offlineText, ...noTags }
  return { shId: 0, startedAtMs: 0, durationMs: 0, playlist: '', streamer: '', isRequest: false, song }
}

function renderBroadcastStart(
  startedAtMs: number | undefined,
  rendering: NowPlayingVariant
): string | number | null {
  if (startedAtMs === undefined) return rendering === 'rest' ? '' : null
  return rendering === 'rest' ? String(toSeconds(startedAtMs)) : toSeconds(startedAtMs)
}

function renderCount(count: { total: number; unique: number } | undefined) {
  return { total: count?.total ?? 0, unique: count?.unique ?? 0, current: count?.total ?? 0 }
}

function mountUrl(shortName: string, mount: ShownMount, baseUrl: string): string {
  return mount.customUrl || `${baseUrl}/listen/${shortName}${mount.path}`
}

/** The display name of a mount, or its path with the format that the AutoDJ sends. */
export function mountDisplayName(mount: Omit<ShownMount, 'id' | 'isDefault' | 'customUrl'>): string {
  if (mount.displayName !== '') return mount.displayName
  if (!mount.hasAutodj || mount.format === '') return mount.path
  const format = mount.format.toUpperCase()
  return mount.format === 'flac' || mount.bitrate === 0
    ? `${mount.path} (${format})`
    : `${mount.path} (${mount.bitrate}kbps ${format})`
}

const toAbsoluteUrl = (path: string, baseUrl: string): string =>
  path.startsWith('/') ? baseUrl + path : path
