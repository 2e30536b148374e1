import { credentialParameterName } from '../api/auth/credential-links.ts'
import { type ApiRequest, jsonReply } from '../api/core/route.ts'
import { renderStationObject, shownArtUrl } from '../model/station/now-playing.ts'
import { parseUrl } from '../platform/outbound/networks.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { decodePercent } from '../platform/text/percent-encoding.ts'
import { html, type Html, pageRoute, renderPage, siteName } from './page.ts'
import { stationPageRoute } from './station-page.ts'
import { renderFrameCode, widgetHeights } from './widget-code.ts'

const sizes = Object.keys(widgetHeights)
const themes = ['auto', 'light', 'dark']

/** The widget as a page for frames: `?size=badge`, `card` or `full`, `?theme=light`, `dark` or `auto`. */
export const embedRoute = stationPageRoute('/embed', page => {
  const { station, query, apiKey } = page
  return renderPage({
    ...page,
    title: station.name,
    styles: 'embed.css',
    scripts: ['widget.js'],
    isFramed: true,
    head: html`<meta name="robots" content="noindex" />`,
    body: html`<main>
      <h1 class="visually-hidden">${station.name}</h1>
      <cuewire-now-playing
        station="${station.id}"
        size="${sizes.find(each => each === query.get('size')) ?? 'card'}"
        theme="${themes.find(each => each === query.get('theme')) ?? 'auto'}"
        ${credentialAttribute(apiKey)}
      ></cuewire-now-playing>
    </main>`
  })
})

/** The attribute of the widget for the credential of a private station. */
function credentialAttribute(apiKey: string): Html {
  if (apiKey === '') return html``
  return credentialParameterName(apiKey) === 'token' ? html`token="${apiKey}"` : html`api-key="${apiKey}"`
}

const maxWidth = 480
const thumbnailSize = 600

/**
 * oEmbed 1.0 (https://oembed.com): a frame with the widget, for websites that get the address of a player.
 * Returns 404 for private stations.
 */
export const oembedRoute = pageRoute(
  '/oembed',
  async ({ query, host }, { live, settings, config: { BASE_URL: baseUrl } }) => {
    const format = query.get('format') ?? 'json'
    if (format !== 'json') throw new ApiError('not-implemented', 'The only supported format is json.')
    const name = parseStationName(query.get('url') ?? '', [baseUrl, `http://${host}`, `https://${host}`])
    const state = live.findState(name)
    if (!state?.profile.isPublic) throw new ApiError('not-found')
    const station = renderStationObject(state, baseUrl)
    const available = { width: parsePixels(query, 'maxwidth'), height: parsePixels(query, 'maxheight') }
    const size = available.height < widgetHeights.card ? 'badge' : 'card'
    const width = Math.min(maxWidth, available.width)
    const height = Math.min(widgetHeights[size], available.height)
    const hasThumbnail = Math.min(available.width, available.height) >= thumbnailSize
    const thumbnail = {
      thumbnail_url: shownArtUrl(state, baseUrl),
      thumbnail_width: thumbnailSize,
      thumbnail_height: thumbnailSize
    }
    const reply = jsonReply({
      version: '1.0',
      type: 'rich',
      provider_name: siteName(await settings.read()),
      provider_url: baseUrl,
      title: station.name,
      cache_age: 3_600,
      ...(hasThumbnail ? thumbnail : {}),
      html: renderFrameCode(station, size, width, height),
      width,
      height
    })
    return { ...reply, headers: { 'Cache-Control': 'public, max-age=60' } }
  }
)

/** The station in the address of a player page; empty unless it starts with one of `bases`. */
function parseStationName(address: string, bases: readonly string[]): string {
  const url = normalizeUrl(address)
  const prefix = bases.map(base => normalizeUrl(`${base}/public/`)).find(each => each && url.startsWith(each))
  if (!prefix) return ''
  const [name = ''] = url.slice(prefix.length).split(/[/?#]/)
  return decodePercent(name) ?? ''
}

/** Empty if the address is invalid. */
const normalizeUrl = (address: string) => parseUrl(address)?.href ?? ''

/** A size in pixels from the query; Infinity if it is missing or invalid. */
function parsePixels(query: ApiRequest['query'], name: string): number {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Infinity
}
