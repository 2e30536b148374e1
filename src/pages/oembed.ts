import { type ApiRequest, json, type Route } from '../api/route.ts'
import type { ApiServices } from '../api/services.ts'
import { ApiError } from '../errors.ts'
import { renderStation, shownArtUrl } from '../station/now-playing.ts'
import { frameCode, widgetSizes } from './widget-code.ts'

const widest = 480
const narrowest = 220

/**
 * What other websites show who are given the address of a player: a frame with the widget, by oEmbed 1.0
 * (https://oembed.com). Only public stations have any.
 */
export const oembedRoute: Route<ApiServices> = {
  method: 'GET',
  path: '/oembed',
  access: 'public',
  handle: ({ query }, { live, config: { BASE_URL: baseUrl } }) => {
    const format = query.get('format') ?? 'json'
    if (format !== 'json') throw new ApiError('not-implemented', 'There is no other format than json.')
    const state = live.get(stationNamed(query.get('url') ?? '', baseUrl))
    if (!state?.profile.isPublic) throw new ApiError('not-found')
    const station = renderStation(state, baseUrl)
    const width = Math.max(narrowest, Math.min(widest, sizeOf(query, 'maxwidth')))
    const size = sizeOf(query, 'maxheight') < widgetSizes.card ? 'badge' : 'card'
    const height = widgetSizes[size]
    const answer = json({
      version: '1.0',
      type: 'rich',
      provider_name: 'Cuewire',
      provider_url: baseUrl,
      title: station.name,
      cache_age: 3_600,
      thumbnail_url: shownArtUrl(state, baseUrl),
      thumbnail_width: 600,
      thumbnail_height: 600,
      html: frameCode(station, { size, width }),
      width,
      height
    })
    return { ...answer, headers: { 'Cache-Control': 'public, max-age=60' } }
  }
}

/** The station whose player an address leads to; empty if it is none of ours. */
function stationNamed(address: string, baseUrl: string): string {
  const before = `${baseUrl}/public/`
  if (!address.startsWith(before)) return ''
  const [name = ''] = address.slice(before.length).split(/[/?#]/)
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

/** A size of the query in pixels; infinite where none was given. */
function sizeOf(query: ApiRequest['query'], name: string): number {
  const text = query.get(name) ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : Infinity
}
