import type { Reply } from '../api/core/route.ts'
import { hasPlainHost, parsedUrl } from '../outbound/networks.ts'
import { escapeHtml } from '../runtime/errors.ts'
import type { WebFiles } from './web-files.ts'

/**
 * A page. `root` leads from its address to the root of the server, so that a path in front of it does no
 * harm.
 */
export interface Page {
  readonly title: string
  readonly root: '.' | '..' | '../..'
  /** Names of a style sheet and scripts of `web/`, `player.css`. */
  readonly styles: string
  readonly scripts?: readonly string[]
  readonly head?: Html
  readonly body: Html
}

/** Writes a page as an answer. */
export function showPage(
  page: Page,
  files: WebFiles,
  headers: NonNullable<Reply['headers']>,
  status = 200
): Reply {
  const body = Buffer.from(renderPage(page, files))
  if (status !== 200) return { status, headers, body }
  // It tells the time, so that it is another one each time.
  const document = { body, etag: '', position: null }
  return { headers, document: () => document }
}

const font = 'figtree-latin-wght-normal.woff2'

function renderPage({ title, root, styles, scripts = [], head, body }: Page, files: WebFiles): string {
  const path = (name: string) => `${root}/assets/${files.named(name).name}`
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <title>${title}</title>
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#f6f4f0" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#11100f" />
        <link rel="icon" type="image/svg+xml" href="${path('icon.svg')}" />
        <link rel="preload" as="font" type="font/woff2" crossorigin href="${path(font)}" />
        <link rel="stylesheet" href="${path(styles)}" />
        ${scripts.map(name => html`<script type="module" src="${path(name)}"></script>`)} ${head ?? null}
      </head>
      <body>
        ${body}
      </body>
    </html> `
  return page.html
}

/** What a page may do beside loading files of its own server and talking to it. */
interface Freedoms {
  readonly baseUrl: string
  /** Addresses of streams. */
  readonly streams?: readonly string[]
  /** Whether it shows frames of its own server. */
  readonly hasFrames?: boolean
  /** Whether other websites may show it in a frame. */
  readonly isFramed?: boolean
  /** Whether it shows pictures that it was sent with a key. */
  readonly hasMadePictures?: boolean
  readonly isPrivate: boolean
}

/** The headers of a page. Nothing inline is executed, and nothing foreign is loaded but the streams. */
export function pageHeaders({
  baseUrl,
  streams = [],
  hasFrames = false,
  isFramed = false,
  hasMadePictures = false,
  isPrivate
}: Freedoms): NonNullable<Reply['headers']> {
  // Pages are also opened under other names than BASE_URL, which all links begin with.
  const { origin } = new URL(baseUrl)
  const sounds = new Set([origin, ...streams.flatMap(originOf)])
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' ${origin}${hasMadePictures ? ' blob:' : ''}`,
    `media-src 'self' ${[...sounds].join(' ')}`,
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
    // The address of a private page has a key in it.
    'Referrer-Policy': 'no-referrer'
  }
}

/** The origin of an address, as an element of a policy; none of what is no address of the web. */
function originOf(address: string): string[] {
  const url = parsedUrl(address)
  return url && hasPlainHost(url) && ['http:', 'https:'].includes(url.protocol) ? [url.origin] : []
}

/** Text that is HTML already. */
export interface Html {
  readonly html: string
}

/** What may stand in a template: text is escaped, HTML is not, null is left out. */
type Shown = string | number | Html | readonly Html[] | null

/**
 * Writes HTML; whatever is put in is text, in elements and in quoted attributes, unless it is HTML itself.
 */
export function html(texts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return { html: String.raw({ raw: texts }, ...values.map(render)) }
}

function render(value: Shown): string {
  if (value === null) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'html' in value ? value.html : value.map(each => each.html).join('')
}

/** Data for a script, as an element that nothing executes. Its text cannot end the element. */
export function dataElement(id: string, json: string): Html {
  const inside: Html = { html: json.replaceAll('<', '\\u003c') }
  return html`<script type="application/json" id="${id}">
    ${inside}
  </script>`
}

/**
 * Sends elsewhere. Places are relative: there may be a path in front of the server, and it is known under
 * other names than `BASE_URL`.
 */
export const sendTo = (place: string, query: URLSearchParams): Reply => ({
  status: 302,
  headers: {
    Location: query.size === 0 ? place : `${place}?${query.toString()}`,
    'Cache-Control': 'no-store'
  }
})
