import {
  type CuedSong,
  isOnline,
  type Mount,
  type Play,
  type Remote,
  type Song,
  type StationState
} from './state.ts'

/**
 * `rest`: the interface to the letter. `event`: what players of push, static files and web hooks expect. They
 * differ in `live.broadcast_start`, `live.art`, `song.custom_fields` and `cache`, nowhere else.
 */
export type Rendering = 'rest' | 'event'

/**
 * A now-playing document but for its two moving numbers: `head`, then what `renderMoving` gives, then `tail`
 * make the JSON text. Rendered once per change.
 */
export interface NowPlayingDocument {
  readonly head: string
  readonly tail: string
  /** Unix seconds of the start, and seconds of length; `isRunning` false stands at its end. */
  readonly playedAt: number
  readonly duration: number
  readonly isRunning: boolean
}

/** The hash of `stationoffline`: the id of the offline song and of every empty text. */
export const offlineSongId = '5a6a865199cf5df73b1417326d2ff24f'

/** Path of the built-in image, below the base URL. */
export const genericArtPath = '/static/img/generic_song.jpg'

const seconds = (ms: number) => Math.floor(ms / 1000)

/**
 * Renders everything of the document that does not move. `baseUrl` begins every link and has no slash at its
 * end.
 */
export function renderNowPlaying(
  state: StationState,
  rendering: Rendering,
  baseUrl: string
): NowPlayingDocument {
  const { shown, live } = state
  const playing =
    shown === null ? renderOffline(state, rendering, baseUrl) : renderShown(state, shown, rendering, baseUrl)
  const before = {
    station: renderStation(state, baseUrl),
    listeners: renderCount(state.listeners),
    live: {
      is_live: live !== null,
      streamer_name: live?.streamerName ?? '',
      broadcast_start: renderBroadcastStart(live?.startedAtMs, rendering),
      art: live?.art ? absolute(live.art, baseUrl) : rendering === 'rest' ? '' : null
    },
    now_playing: playing
  }
  const after = {
    playing_next: state.next === null ? null : renderCued(state, state.next, rendering, baseUrl),
    song_history: state.history.map(play => renderPlay(state, play, rendering, baseUrl)),
    is_online: isOnline(state),
    cache: rendering === 'rest' ? 'hit' : 'event'
  }
  return {
    head: `${JSON.stringify(before).slice(0, -2)},`,
    tail: `},${JSON.stringify(after).slice(1)}`,
    playedAt: playing.played_at,
    duration: playing.duration,
    isRunning: shown !== null && state.current?.shId === shown.shId
  }
}

/** The two moving members, true at `nowSeconds`: elapsed within 0..duration, and what remains of it. */
export function renderMoving(document: NowPlayingDocument, nowSeconds: number): string {
  const elapsed = elapsedAt(document, nowSeconds)
  return `"elapsed":${elapsed},"remaining":${document.duration - elapsed}`
}

/**
 * Whole seconds of what is shown that have passed at `nowSeconds`. With the document they determine its text.
 */
export function elapsedAt({ playedAt, duration, isRunning }: NowPlayingDocument, nowSeconds: number): number {
  return isRunning ? Math.min(Math.max(nowSeconds - playedAt, 0), duration) : duration
}

/** What a station shows as one line: `Artist - Title` without an empty part, else the station's name. */
export function renderLine({ shown, profile }: StationState): string {
  const { artist, title } = shown?.song ?? { artist: '', title: profile.offlineText }
  return joinNames(artist, title) || profile.name
}

/**
 * The address of the picture of what is shown: the song's cover, else the picture of who is live, else the
 * built-in one.
 */
export function shownArtUrl({ shown, live, profile }: StationState, baseUrl: string): string {
  const artId = shown?.song.artId ?? ''
  if (artId === '' && shown !== null && live?.art) return absolute(live.art, baseUrl)
  return artUrl(artId, profile.shortName, baseUrl)
}

/** The station summary of the interface (19 keys). */
export function renderStation(state: StationState, baseUrl: string) {
  const { profile, listeners } = state
  const { shortName } = profile
  const mounts = profile.mounts.map(mount => ({
    id: mount.id,
    name: mountName(mount),
    url: mountUrl(shortName, mount, baseUrl),
    bitrate: mount.bitrate,
    format: mount.format,
    listeners: renderCount(listeners.mounts[mount.id]),
    path: mount.path,
    is_default: mount.isDefault
  }))
  const remotes = profile.remotes.map((remote: Remote) => ({
    id: remote.id,
    name: remote.name,
    url: remote.url,
    bitrate: remote.bitrate,
    format: remote.format,
    listeners: renderCount(listeners.remotes[remote.id])
  }))
  const listened = profile.mounts.find(mount => mount.isDefault) ?? profile.mounts[0]
  return {
    id: state.stationId,
    name: profile.name,
    shortcode: shortName,
    description: profile.description,
    frontend: profile.frontend,
    backend: profile.backend,
    timezone: profile.timezone,
    listen_url: listened ? mountUrl(shortName, listened, baseUrl) : (profile.remotes[0]?.url ?? ''),
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

/** The song of the interface (10 keys). `fields`: the custom fields defined on the installation. */
export function renderSong(
  song: Song,
  station: { shortName: string; customFields: readonly { id: number; shortName: string }[] },
  rendering: Rendering,
  baseUrl: string
) {
  return {
    id: song.id,
    art: artUrl(song.artId, station.shortName, baseUrl),
    custom_fields: renderCustomFields(song, station.customFields, rendering),
    text: joinNames(song.artist, song.title),
    artist: song.artist,
    title: song.title,
    album: song.album,
    genre: song.genre,
    isrc: song.isrc,
    lyrics: song.lyrics
  }
}

const joinNames = (artist: string, title: string) => [artist, title].filter(part => part !== '').join(' - ')

/** The address of a song's cover, or of the built-in image. */
export function artUrl(artId: string, shortName: string, baseUrl: string): string {
  return absolute(artId ? `/api/station/${shortName}/art/${artId}.jpg` : genericArtPath, baseUrl)
}

function renderCustomFields(
  song: Song,
  fields: readonly { id: number; shortName: string }[],
  rendering: Rendering
) {
  if (rendering === 'rest' || fields.length === 0)
    return fields.map(field => song.customFields[field.id] ?? '')
  return Object.fromEntries(fields.map(field => [field.shortName, song.customFields[field.id] ?? null]))
}

function renderPlay(state: StationState, play: Play, rendering: Rendering, baseUrl: string) {
  return {
    sh_id: play.shId,
    played_at: seconds(play.startedAtMs),
    duration: seconds(play.durationMs),
    playlist: play.playlist,
    streamer: play.streamer,
    is_request: play.isRequest,
    song: renderSong(play.song, state.profile, rendering, baseUrl)
  }
}

/** What plays, with the picture of who is live where the song has none. */
function renderShown(state: StationState, shown: Play, rendering: Rendering, baseUrl: string) {
  const play = renderPlay(state, shown, rendering, baseUrl)
  return { ...play, song: { ...play.song, art: shownArtUrl(state, baseUrl) } }
}

function renderCued(state: StationState, next: CuedSong, rendering: Rendering, baseUrl: string) {
  return {
    cued_at: seconds(next.cuedAtMs),
    played_at: seconds(next.playsAtMs),
    duration: seconds(next.durationMs),
    playlist: next.playlist,
    is_request: next.isRequest,
    song: renderSong(next.song, state.profile, rendering, baseUrl)
  }
}

function renderOffline(state: StationState, rendering: Rendering, baseUrl: string) {
  const song: Song = {
    id: offlineSongId,
    artist: '',
    title: state.profile.offlineText,
    album: '',
    genre: '',
    isrc: '',
    lyrics: '',
    artId: '',
    customFields: {}
  }
  const play = { shId: 0, startedAtMs: 0, durationMs: 0, playlist: '', streamer: '', isRequest: false, song }
  return renderPlay(state, play, rendering, baseUrl)
}

function renderBroadcastStart(startedAtMs: number | undefined, rendering: Rendering): string | number | null {
  if (startedAtMs === undefined) return rendering === 'rest' ? '' : null
  return rendering === 'rest' ? String(seconds(startedAtMs)) : seconds(startedAtMs)
}

function renderCount(count: { total: number; unique: number } | undefined) {
  return { total: count?.total ?? 0, unique: count?.unique ?? 0, current: count?.total ?? 0 }
}

function mountUrl(shortName: string, mount: Mount, baseUrl: string): string {
  return mount.customUrl || `${baseUrl}/listen/${shortName}${mount.path}`
}

/** What a mount is called: its display name, else its path with what the AutoDJ sends there. */
export function mountName(mount: Omit<Mount, 'id' | 'isDefault' | 'customUrl'>): string {
  if (mount.displayName !== '') return mount.displayName
  if (!mount.hasAutodj || mount.format === '') return mount.path
  const format = mount.format.toUpperCase()
  return mount.format === 'flac' || mount.bitrate === 0
    ? `${mount.path} (${format})`
    : `${mount.path} (${mount.bitrate}kbps ${format})`
}

function absolute(path: string, baseUrl: string): string {
  return path.startsWith('/') ? baseUrl + path : path
}
