import { findVisibleStation, publicRequestOf } from '../api/auth/public-request.ts'
import type { Reply, Route } from '../api/core/route.ts'
import type { ApiServices } from '../api/core/services.ts'
import { ApiError } from '../runtime/errors.ts'
import { type PlaylistFormat, playlistTypes, renderPlaylist } from '../songs/playlist-file.ts'
import type { CachedResponse } from '../station/document.ts'
import { renderStation } from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'
import { html, pageHeaders, sendTo, showPage } from './page.ts'
import type { WebFiles } from './web-files.ts'

/** What a page about a station is made of. */
export interface Shown {
  readonly state: StationState
  /** The summary that every now-playing document carries. */
  readonly station: ReturnType<typeof renderStation>
  /** The now-playing document as it is pushed, at this second. */
  readonly document: CachedResponse
  readonly query: URLSearchParams
  /**
   * The key of a private station, which everything else it is asked for needs as well; empty for a public
   * one.
   */
  readonly apiKey: string
  readonly files: WebFiles
  readonly baseUrl: string
}

/**
 * A page about a station, at `/public/{station}` and what follows that. A private station, without a key for
 * it, is as unknown as one that is not there.
 */
export function stationPage(
  rest: '' | `/${string}`,
  getFiles: () => Promise<WebFiles>,
  show: (shown: Shown) => Reply
): Route<ApiServices> {
  return {
    method: 'GET',
    path: `/public/:station_id${rest}`,
    access: 'public',
    handle: async (request, services) => {
      const files = await getFiles()
      const baseUrl = services.config.BASE_URL
      try {
        const state = await findVisibleStation(publicRequestOf(request), services)
        const document = services.live.document(state.stationId, 'event')
        if (document === undefined) throw new ApiError('not-found')
        const apiKey = state.profile.isPublic ? '' : request.apiKey
        const station = renderStation(state, baseUrl)
        return show({ state, station, document, query: request.query, apiKey, files, baseUrl })
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'not-found') throw error
        const { station_id: name = '' } = request.params
        const written = name.toLowerCase()
        // Short names seldom have capitals. Whether there is such a station is not told.
        if (name !== written)
          return sendTo(`${rest === '' ? './' : '../'}${encodeURIComponent(written)}${rest}`, request.query)
        return showMissing(files, baseUrl, rest === '' ? '..' : '../..')
      }
    }
  }
}

/** What is shown in place of a page that is not there. */
export function showMissing(files: WebFiles, baseUrl: string, root: '..' | '../..'): Reply {
  const page = {
    title: 'No such station',
    root,
    styles: 'message.css',
    head: html`<meta name="robots" content="noindex" />`,
    body: html`<main class="message">
      <p class="message-code">404</p>
      <h1>No such station</h1>
      <p>Nothing is broadcast under this name. It may be misspelt, or gone, or not for everybody.</p>
    </main>`
  }
  return showPage(page, files, pageHeaders({ baseUrl, isPrivate: true }), 404)
}

/** The query that hands the key of a private station on; empty for a public one. */
export function keyQuery({ apiKey }: Pick<Shown, 'apiKey'>): string {
  return apiKey === '' ? '' : `?${new URLSearchParams({ api_key: apiKey }).toString()}`
}

/** The addresses of everything that can be listened to. */
export function streamsOf({ station }: Pick<Shown, 'station'>): string[] {
  const { mounts, remotes, hls_url: hls } = station
  return [...mounts, ...remotes].map(({ url }) => url).concat(hls === '' ? [] : [hls])
}

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
