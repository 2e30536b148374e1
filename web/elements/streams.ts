import type { Mount, Remote, Station } from '../client/interface.ts'

/** A stream to listen to. */
export interface PlayableStream {
  readonly url: string
  readonly label: string
  readonly isHls: boolean
}

/** Whether a script can feed HLS to the browser. Otherwise, only browsers that support HLS themselves can play it. */
export const hasMediaSource = () => 'ManagedMediaSource' in globalThis || 'MediaSource' in globalThis

const canPlayHls = (canPlay: (type: string) => boolean) =>
  hasMediaSource() || canPlay('application/vnd.apple.mpegurl')

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  ogg: 'audio/ogg; codecs=vorbis',
  opus: 'audio/ogg; codecs=opus',
  flac: 'audio/ogg; codecs=flac'
}

/** The streams of a station that the browser can play, the default one first. */
export function listStreams(station: Station, canPlay: (type: string) => boolean): readonly PlayableStream[] {
  const isPlayable = ({ format }: Remote) => {
    const type = types[format ?? '']
    return type === undefined || canPlay(type)
  }
  const sources = [
    ...station.mounts.toSorted((one, other) => Number(other.is_default) - Number(one.is_default)),
    ...station.remotes
  ].filter(isPlayable)
  const labels = sources.map(describeStream)
  const streams = sources.map((source, index) => {
    const label = labels[index] ?? ''
    const isAmbiguous = labels.indexOf(label) !== labels.lastIndexOf(label)
    return { url: source.url, label: isAmbiguous ? `${label} (${locate(source)})` : label, isHls: false }
  })
  if (!station.hls_url || !canPlayHls(canPlay)) return streams
  const hls = { url: station.hls_url, label: 'HLS', isHls: true }
  return station.hls_is_default ? [hls, ...streams] : [...streams, hls]
}

/** The name of a stream; its format and bitrate if it has no name but its path. */
function describeStream({ name, format, bitrate }: Remote): string {
  if (!name.startsWith('/') || !format) return name
  return !bitrate ? format.toUpperCase() : `${format.toUpperCase()}, ${bitrate} kbit/s`
}

/** Distinguishes streams that have the same label. */
const locate = (stream: Mount | Remote) =>
  'path' in stream ? stream.path : stream.url.replace(/^\w+:\/\//, '')

const checkTimeoutMs = 3_000

/**
 * Whether Cuewire itself answers at the address of a stream that there is none: then no proxy passes the address to a
 * streaming server, and the station has none with a public address. A streaming server without the mount does not
 * answer in JSON.
 */
export async function isMissingStream(url: string): Promise<boolean> {
  if (!URL.canParse(url) || !new URL(url).pathname.includes('/listen/')) return false
  try {
    const signal = AbortSignal.timeout(checkTimeoutMs)
    const { status, headers } = await fetch(url, { method: 'HEAD', signal })
    return status === 404 && headers.get('Content-Type')?.startsWith('application/json') === true
  } catch {
    // The address leads to another server, which does not answer pages.
    return false
  }
}
