import { addListenTokenToUrl } from '../api/auth/credential-links.ts'
import { getVisibleStation, toStationLookup } from '../api/auth/public-request.ts'
import type { HandledRoute } from '../api/core/route.ts'
import type { PageSettings } from '../api/core/services.ts'
import { isSession } from '../http/credentials.ts'
import type { Reply } from '../http/route.ts'
import {
  type PlaylistFileFormat,
  playlistMimeTypes,
  renderPlaylistFile
} from '../model/songs/playlist-file.ts'
import type { CachedResponse } from '../model/station/cached-response.ts'
import { renderStationObject } from '../model/station/now-playing.ts'
import type { StationState } from '../model/station/state.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { html, type PageContent, pageRoute, redirectReply, renderPage } from './page.ts'

/** The data of a page about a station, including the parts of `PageContent` that follow from the station. */
export interface StationPageData extends Pick<PageContent, 'baseUrl' | 'isPrivate'> {
  readonly settings: PageSettings
  readonly state: StationState
  readonly station: ReturnType<typeof renderStationObject>
  /** The now-playing document as it is pushed now. */
  readonly document: CachedResponse
  readonly query: URLSearchParams
  /**
   * The API key or listen token of a private station, which all requests for it need; empty with a session or for a
   * public one.
   */
  readonly apiKey: string
  /** Everything that can be played, the default stream first. */
  readonly streams: readonly { readonly url: string; readonly name: string }[]
  readonly root: '..' | '../..'
}

/**
 * A page about a station, at `/public/{station}` and below. A private station without a key with access is
 * answered like an unknown one.
 */
export function stationPageRoute(
  rest: '' | `/${string}`,
  render: (page: StationPageData) => Reply | Promise<Reply>
): HandledRoute {
  return pageRoute(`/public/:station_id${rest}`, async (request, services) => {
    const { query } = request
    const { live, config } = services
    const { BASE_URL: baseUrl } = config
    const root = rest === '' ? '..' : '../..'
    try {
      const state = await getVisibleStation(toStationLookup(request), services)
      const document = live.document(state.stationId, 'event')
      if (document === undefined) throw new ApiError('not-found')
      const isPrivate = !state.profile.isPublic
      const apiKey = isPrivate && !isSession(request.apiKey) ? request.apiKey : ''
      const station = renderStationObject(state, baseUrl)
      const streams = sortStreams(station)
      const settings = await services.settings.read()
      return await render({
        state,
        station,
        document,
        query,
        apiKey,
        streams,
        root,
        baseUrl,
        isPrivate,
        settings
      })
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== 'not-found') throw error
      const { station_id: name = '' } = request.params
      const lower = name.toLowerCase()
      if (name === lower) return renderMissingPage(baseUrl, root)
      // Short names seldom have capitals. The redirect does not reveal whether the station exists.
      return redirectReply(`${rest === '' ? './' : '../'}${encodeURIComponent(lower)}${rest}`, query)
    }
  })
}

/** The page for stations and pages that do not exist. */
export function renderMissingPage(baseUrl: string, root: '..' | '../..'): Promise<Reply> {
  return renderPage(
    {
      baseUrl,
      isPrivate: true,
      title: 'No such station',
      root,
      styles: 'message.css',
      head: html`<meta name="robots" content="noindex" />`,
      body: html`<main class="message">
        <p class="message-code">404</p>
        <h1>No such station</h1>
        <p>There is no station with this name. It may be misspelled, deleted or private.</p>
      </main>`
    },
    404
  )
}

function sortStreams({
  mounts,
  remotes,
  hls_url: url,
  hls_is_default: isDefault
}: StationPageData['station']) {
  const sorted = mounts.toSorted((one, other) => Number(other.is_default) - Number(one.is_default))
  const streams: { url: string; name: string }[] = [...sorted, ...remotes]
  const hls = url === '' ? [] : [{ url, name: 'HLS' }]
  return isDefault ? [...hls, ...streams] : [...streams, ...hls]
}

/** The streams of a station as a playlist file for media players. */
export const streamPlaylistRoute = (format: PlaylistFileFormat) =>
  stationPageRoute(`/playlist.${format}`, ({ station, streams, isPrivate, apiKey, baseUrl }) => {
    const entries = streams.map(({ url, name }) => ({
      path: addListenTokenToUrl(url, apiKey, baseUrl),
      artist: station.name,
      title: name,
      durationMs: 0
    }))
    return {
      body: renderPlaylistFile(format, entries),
      headers: {
        'Content-Type': playlistMimeTypes[format],
        'Content-Disposition': `attachment; filename="${station.shortcode}.${format}"`,
        'Cache-Control': isPrivate ? 'private, no-store' : 'no-cache'
      }
    }
  })
