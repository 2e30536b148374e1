import { type PlaylistFormat, playlistTypes, renderPlaylist } from '../songs/playlist-text.ts'
import { type Shown, stationPage } from './station-page.ts'
import type { WebFiles } from './web-files.ts'

/** The streams of a station as a list that players open: the default one first. */
function streamsRoute(format: PlaylistFormat, files: () => Promise<WebFiles>) {
  return stationPage(`/playlist.${format}`, files, shown => ({
    body: renderPlaylist(format, entriesOf(shown)),
    headers: {
      'Content-Type': playlistTypes[format],
      'Content-Disposition': `attachment; filename="${shown.station.shortcode}.${format}"`,
      'Cache-Control': shown.apiKey === '' ? 'no-cache' : 'private, no-store'
    }
  }))
}

function entriesOf({ station }: Shown) {
  const { mounts, remotes, name, hls_url: hlsUrl, hls_is_default: isHlsFirst } = station
  const isDefault = (mount: (typeof mounts)[number]) => mount.is_default
  const plain = [...mounts.filter(isDefault), ...mounts.filter(mount => !isDefault(mount)), ...remotes]
  const hls = hlsUrl === '' ? [] : [{ url: hlsUrl, name: 'HLS' }]
  const sorted = isHlsFirst ? [...hls, ...plain] : [...plain, ...hls]
  return sorted.map(stream => ({ path: stream.url, artist: name, title: stream.name, durationMs: 0 }))
}

export const streamsRoutes = (files: () => Promise<WebFiles>) => [
  streamsRoute('pls', files),
  streamsRoute('m3u', files)
]
