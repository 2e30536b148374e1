import type { Mount, Remote, Station } from '../client/interface.ts'

/** Something to listen to. */
export interface Stream {
  readonly url: string
  readonly label: string
}

const hlsType = 'application/vnd.apple.mpegurl'

const types: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  aac: 'audio/aac',
  ogg: 'audio/ogg; codecs=vorbis',
  opus: 'audio/ogg; codecs=opus',
  flac: 'audio/ogg; codecs=flac'
}

/** What a station offers and this browser plays, the station's own choice first. */
export function streamsFor(station: Station, canPlay: (type: string) => boolean): readonly Stream[] {
  const isPlayable = ({ format }: Remote) => {
    const type = types[format]
    return type === undefined || canPlay(type)
  }
  const mounts = station.mounts
    .filter(isPlayable)
    .toSorted((one, other) => Number(other.is_default) - Number(one.is_default))
  const offered = [...mounts, ...station.remotes.filter(isPlayable)]
  const isAmbiguous = (label: string) => offered.filter(each => labelOf(each) === label).length > 1
  const streams = offered.map(each => {
    const label = labelOf(each)
    return { url: each.url, label: isAmbiguous(label) ? `${label} (${whereOf(each)})` : label }
  })
  const hls = { url: station.hls_url, label: 'HLS' }
  const hasHls = station.hls_url !== '' && canPlay(hlsType)
  if (!hasHls) return streams
  return station.hls_is_default ? [hls, ...streams] : [...streams, hls]
}

/** What an operator calls it; where nobody gave it a name, what it is. */
function labelOf({ name, format, bitrate }: Remote): string {
  if (!name.startsWith('/') || format === '') return name
  return bitrate === 0 ? format.toUpperCase() : `${format.toUpperCase()}, ${bitrate} kbit/s`
}

/** What tells two streams apart that are alike: where they are. */
const whereOf = (stream: Mount | Remote) =>
  'path' in stream ? stream.path : stream.url.replace(/^\w+:\/\//, '')
