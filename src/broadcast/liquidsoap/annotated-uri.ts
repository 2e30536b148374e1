/** A song for a playout. Durations in milliseconds. */
export interface AnnotatedSong {
  readonly queueId: number
  readonly mediaId: number
  readonly playlistId: number | null
  readonly requestId: number | null
  readonly songId: string
  readonly artist: string
  readonly title: string
  readonly durationMs: number
  readonly isJingle: boolean
  readonly path: string
}

/**
 * A song as Liquidsoap takes it: `annotate:title="...",...:media:path`, or with the address of a song that is
 * behind one. Values are text in quotes without line breaks, whatever a tag holds.
 */
export function annotatedUri(song: AnnotatedSong): string {
  const annotations = {
    title: song.title,
    artist: song.artist,
    duration: song.durationMs === 0 ? '' : (song.durationMs / 1000).toFixed(2),
    song_id: song.songId,
    media_id: String(song.mediaId),
    playlist_id: song.playlistId === null ? '' : String(song.playlistId),
    jingle_mode: song.isJingle ? 'true' : '',
    request_id: song.requestId === null ? '' : String(song.requestId),
    sq_id: String(song.queueId)
  }
  const texts = Object.entries(annotations)
    .filter(([name, value]) => value !== '' || name === 'title' || name === 'artist')
    .map(([name, value]) => `${name}="${quoted(value)}"`)
  const uri = /^https?:\/\//i.test(song.path) ? song.path : `media:${song.path}`
  return `annotate:${texts.join(',')}:${uri}`
}

function quoted(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').replace(/["\\]/g, '\\$&')
}
