import { type ApiRequest, json, type Route } from '../api/route.ts'
import type { ApiServices } from '../api/services.ts'
import { ApiError } from '../errors.ts'
import { parsedUrl } from '../parsed-url.ts'
import { renderStation, shownArtUrl } from '../station/now-playing.ts'
import { frameCode, widgetSizes } from './widget-code.ts'

const widest = 480
const thumbnailSize = 600

/**
 * What other websites show who are given the address of a player: a frame with the widget, by oEmbed 1.0
 * (https://oembed.com). Only public stations have any.
 */
export const oembedRoute: Route<ApiServices> = {
  method: 'GET',
  path: '/oembed',
  access: 'public',
  handle: ({ query, host }, { live, config: { BASE_URL: baseUrl } }) => {
    const format = query.get('format') ?? 'json'
    if (format !== 'json') throw new ApiError('not-implemented', 'There is no other format than json.')
    const state = live.get(
      stationNamed(query.get('url') ?? '', [baseUrl, `http://${host}`, `https://${host}`])
    )
    if (!state?.profile.isPublic) throw new ApiError('not-found')
    const station = renderStation(state, baseUrl)
    const [maxWidth, maxHeight] = [sizeOf(query, 'maxwidth'), sizeOf(query, 'maxheight')]
    const width = Math.min(widest, maxWidth)
    const size = maxHeight < widgetSizes.card ? 'badge' : 'card'
    const height = Math.min(widgetSizes[size], maxHeight)
    const hasThumbnail = Math.min(maxWidth, maxHeight) >= thumbnailSize
    const answer = json({
      version: '1.0',
      type: 'rich',
      provider_name: 'Cuewire',
      provider_url: baseUrl,
      title: station.name,
      cache_age: 3_600,
      ...(hasThumbnail
        ? {
            thumbnail_url: shownArtUrl(state, baseUrl),
            thumbnail_width: thumbnailSize,
            thumbnail_height: thumbnailSize
          }
        : {}),
      html: frameCode(station, { size, width, height }),
      width,
      height
    })
    return {
      ...answer,
      headers: { 'Cache-Control': 'public, max-age=60' }
    }
  }
}

/** The station whose player an address leads to; empty if it is none of ours. `bases`: where this server is. */
function stationNamed(address: string, bases: readonly string[]): string {
  // Names of servers are written in capitals as well.
  const plain = plainly(address)
  const before = bases.map(base => plainly(`${base}/public/`)).find(each => plain.startsWith(each))
  if (!plain || !before) return ''
  const [name = ''] = plain.slice(before.length).split(/[/?#]/)
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

const plainly = (address: string) => parsedUrl(address)?.href ?? ''

/** A size of the query in pixels, borders and all; infinite where none was given. */
function sizeOf(query: ApiRequest['query'], name: string): number {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Infinity
}
