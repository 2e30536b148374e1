import type { HandledRoute } from '../api/core/route.ts'
import type { PageSettings } from '../api/core/services.ts'
import { customAssetPath } from '../api/library/custom-asset-rows.ts'
import type { Reply } from '../http/route.ts'
import { hasHeaderSafeHost, parseUrl } from '../platform/outbound/networks.ts'
import { escapeHtml } from '../platform/text/escape-html.ts'
import { loadWebFiles } from './web-files.ts'

/** A public GET route. */
export const pageRoute = (path: string, handle: HandledRoute['handle']): HandledRoute => ({
  method: 'GET',
  path,
  access: 'public',
  handle
})

export interface PageContent extends PageAccess {
  readonly title: string
  /** What operators set for the look of pages. */
  readonly settings?: PageSettings
  /** The relative path to the root of the server, which works behind a proxy that adds a path. */
  readonly root: '.' | '..' | '../..'
  /** The style sheet and the scripts by their names in `webEntries` of `scripts/build.mjs`: `player.js`. */
  readonly styles: string
  readonly scripts?: readonly string[]
  readonly head?: Html
  readonly body: Html
}

/** What a page may load beside files of its own server. */
interface PageAccess {
  readonly baseUrl: string
  /** The streams that it may play. */
  readonly streams?: readonly { readonly url: string }[]
  /** Whether it contains frames of its own server. */
  readonly hasFrames?: boolean
  /** Whether other websites may show it in a frame. */
  readonly isFramed?: boolean
  /** Whether it shows images and plays audio that its script has loaded with a key. */
  readonly hasBlobs?: boolean
  /** URLs of pictures on other servers that it may show. */
  readonly pictures?: readonly string[]
  readonly isPrivate: boolean
}

/** Renders a page as a response. */
export async function renderPage(page: PageContent, status = 200): Promise<Reply> {
  const headers = pageHeaders({ ...page, pictures: picturesOf(page) })
  const body = Buffer.from((await renderDocument(page)).html)
  if (status !== 200) return { status, headers, body }
  // No entity tag: the page contains the time, so that each response differs.
  const document = { body, etag: '', position: null }
  return { headers, document: () => document }
}

/** The name of the website. */
export const siteName = ({ instance_name: name }: PageSettings): string => name || 'Cuewire'

/** The picture of songs without a cover may be on another server. */
const picturesOf = ({ settings }: PageContent) =>
  settings?.default_album_art_url ? [settings.default_album_art_url] : []

/** Public pages have the colors of the settings. */
const themeOf = ({ settings }: PageContent) => settings?.public_theme ?? 'browser'

const font = 'figtree-latin-wght-normal.woff2'

async function renderDocument(page: PageContent): Promise<Html> {
  const { title, root, styles, scripts = [], head, body } = page
  const theme = themeOf(page)
  const { browser_icon: icon } = page.settings?.assets ?? {}
  const files = await loadWebFiles()
  const path = (name: string) => `${root}/assets/${files.get(name).name}`
  return html`<!doctype html>
    <html lang="en" data-theme="${theme}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <title>${title}</title>
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f6f4f0" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#11100f" />
        ${icon === undefined ? html`<link rel="icon" type="image/svg+xml" href="${path('icon.svg')}" />` : html`<link rel="icon" href="${root + customAssetPath('browser_icon', icon)}" />`}
        <link rel="preload" as="font" type="font/woff2" crossorigin href="${path(font)}" />
        <link rel="stylesheet" href="${path(styles)}" />
        ${scripts.map(name => html`<script type="module" src="${path(name)}"></script>`)} ${head ?? null}
      </head>
      <body>
        ${body}
      </body>
    </html> `
}

/** The headers of a page. Its policy forbids inline code, and other servers except for the streams. */
export function pageHeaders(page: PageAccess): NonNullable<Reply['headers']> {
  const { baseUrl, streams, hasFrames, isFramed, hasBlobs, isPrivate, pictures = [] } = page
  // Links start with BASE_URL, but a page can be opened under another name of the server.
  const { origin } = new URL(baseUrl)
  const media = new Set([origin, ...(streams ?? []).flatMap(({ url }) => toOrigins(url))])
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src ${["'self'", origin, ...pictures.flatMap(toOrigins), ...(hasBlobs === true ? ['blob:'] : [])].join(' ')}`,
    // HLS is played from a media source, whose address is a blob.
    `media-src 'self' ${[...media].join(' ')}${streams === undefined && hasBlobs !== true ? '' : ' blob:'}`,
    `connect-src 'self' ${origin} ${origin.replace(/^http/, 'ws')}`,
    ...(hasFrames ? [`frame-src 'self' ${origin}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${isFramed ? '*' : "'none'"}`,
    "require-trusted-types-for 'script'",
    'trusted-types lit-html'
  ].join('; ')
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': isPrivate ? 'private, no-store' : 'no-cache',
    'Content-Security-Policy': policy,
    // The address of a private page contains a key.
    'Referrer-Policy': 'no-referrer'
  }
}

/** The origin of an address for a policy; empty unless it is a valid HTTP address. */
function toOrigins(address: string): string[] {
  const url = parseUrl(address)
  return url && hasHeaderSafeHost(url) && ['http:', 'https:'].includes(url.protocol) ? [url.origin] : []
}

/** Text that is HTML. */
export interface Html {
  readonly html: string
}

type HtmlValue = string | number | Html | readonly Html[] | null

/** Renders HTML. Values are escaped for elements and quoted attributes unless they are HTML; null: empty. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { html: String.raw({ raw: texts }, ...values.map(renderValue)) }
}

function renderValue(value: HtmlValue): string {
  if (value === null) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'html' in value ? value.html : value.map(each => each.html).join('')
}

/** JSON for a script, in an element that is not executed. The data cannot close the element. */
export function jsonScript(id: string, json: string): Html {
  const content: Html = { html: json.replaceAll('<', '\\u003c') }
  return html`<script type="application/json" id="${id}">
    ${content}
  </script>`
}

/**
 * Redirects to a relative address, because a proxy may add a path, and the server may have other names than
 * `BASE_URL`.
 */
export const redirectReply = (location: string, query: URLSearchParams): Reply => ({
  status: 302,
  headers: {
    Location: query.size === 0 ? location : `${location}?${query.toString()}`,
    'Cache-Control': 'no-store'
  }
})
