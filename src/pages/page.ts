import type { Reply } from '../api/route.ts'
import { html, type Html } from './html.ts'
import type { WebFiles } from './web-files.ts'

/** A page. `root` leads from its address to the root of the server, so that a path in front of it does no harm. */
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
