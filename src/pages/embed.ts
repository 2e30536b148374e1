import { type ApiRequest, json, type Route } from '../api/core/route.ts'
import type { ApiServices } from '../api/core/services.ts'
import { parsedUrl } from '../outbound/networks.ts'
import { ApiError, escapeHtml } from '../runtime/errors.ts'
import { renderStation, shownArtUrl } from '../station/now-playing.ts'
import { html, pageHeaders, showPage } from './page.ts'
import { stationPage, streamsOf } from './station-page.ts'
import type { WebFiles } from './web-files.ts'

/**
 * The widget as a page of its own, to be shown in frames: `?size=badge`, `card` or `full`, `?theme=light`,
 * `dark` or `auto`.
 */
export const embedRoute = (files: () => Promise<WebFiles>) =>
  stationPage('/embed', files, shown => {
    const { station, query, apiKey, baseUrl } = shown
    const size = query.get('size') ?? ''
    const theme = themes.find(each => each === query.get('theme')) ?? 'auto'
    const page = {
      title: station.name,
      root: '../..' as const,
      styles: 'embed.css',
      scripts: ['widget.js'],
      head: html`<meta name="robots" content="noindex" />`,
      body: html`<main>
        <h1 class="only-heard">${station.name}</h1>
        <cuewire-now-playing
          station="${station.id}"
          size="${isWidgetSize(size) ? size : 'card'}"
          theme="${theme}"
          api-key="${apiKey}"
        ></cuewire-now-playing>
      </main>`
    }
    const streams = streamsOf(shown)
    return showPage(
      page,
      shown.files,
      pageHeaders({ baseUrl, streams, isFramed: true, isPrivate: apiKey !== '' })
    )
  })

/** The sizes of the widget, with how high a frame has to be for each, its border included. */
export const widgetSizes = { badge: 42, card: 100, full: 720 } as const

type WidgetSize = keyof typeof widgetSizes

const isWidgetSize = (text: string): text is WidgetSize => Object.hasOwn(widgetSizes, text)

const themes = ['light', 'dark', 'auto'] as const

/**
 * The lines that put a widget on a website. `attributes` are what stands in the element beside its station.
 */
export function elementCode(
  baseUrl: string,
  station: string,
  attributes: Readonly<Record<string, string>>
): string {
  const script = element('script', { type: 'module', src: `${baseUrl}/widget.js` })
  return `${script}\n${element('cuewire-now-playing', { station, ...attributes })}`
}

/** A frame with a widget, for websites that allow no scripts. */
export function frameCode(
  { public_player_url: url, name }: { readonly public_player_url: string; readonly name: string },
  {
    size,
    width,
    height = widgetSizes[size]
  }: { readonly size: WidgetSize; readonly width: number; readonly height?: number }
): string {
  return element('iframe', {
    src: `${url}/embed?size=${size}`,
    width: String(width),
    height: String(height),
    title: name,
    style: 'box-sizing: border-box; border: 1px solid #8884; border-radius: 12px',
    loading: 'lazy'
  })
}

function element(name: string, attributes: Readonly<Record<string, string>>): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${withoutTurns(escapeHtml(value))}"`
  )
  return `<${name}${written.join('')}></${name}>`
}

/**
 * Characters that turn the direction of what follows, as references: the code around a name must stay
 * readable.
 */
const withoutTurns = (text: string) =>
  text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, char => `&#${char.charCodeAt(0)};`)

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

/**
 * The station whose player an address leads to; empty if it is none of ours. `bases`: where this server is.
 */
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
