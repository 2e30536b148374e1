import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

import type * as Esbuild from 'esbuild'

import type { HeldDocument } from '../api/route.ts'

/*
 * What browsers load is bundled from `web/` by the server itself, in memory, when it is first asked for: 80 ms, once
 * for each server process. So there is no build step that can be forgotten, nothing on disk that can be old, and a
 * start costs nothing. The same sources give the same bytes and names on every server.
 */

/** A file for browsers, in all codings. `name` changes with its content: `player-A7KLSN7G.js`. */
export interface WebFile extends HeldDocument {
  readonly name: string
  readonly contentType: string
}

export interface WebFiles {
  /** By the name without the hash, `player.js`. Throws if there is none. */
  readonly named: (name: string) => WebFile
  /** By a name with a hash, this one's or that of another version of the program; undefined if there is none. */
  readonly hashed: (name: string) => WebFile | undefined
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What is bundled, by the name it gets. */
const entries = {
  client: 'web/client/client.ts',
  player: 'web/player/player-page.ts',
  widget: 'web/widget/widget.ts',
  'player-style': 'web/player/player.css',
  gallery: 'web/gallery/gallery-page.ts',
  'gallery-style': 'web/gallery/gallery.css',
  dashboard: 'web/dashboard/dashboard-page.ts',
  'dashboard-style': 'web/dashboard/dashboard.css',
  embed: 'web/embed/embed.css',
  message: 'web/message/message.css',
  icon: 'web/design/icon.svg'
}

/** Browsers of the last two years and a half; in style sheets, what these do not know is written out for them. */
const target = ['chrome123', 'edge123', 'firefox121', 'safari17.5']

/** Gives the files, which are made at the first call. Whoever comes after a failure tries again. */
export function openWebFiles(): () => Promise<WebFiles> {
  let made: Promise<WebFiles> | null = null
  return () => {
    made ??= makeWebFiles().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}

async function makeWebFiles(): Promise<WebFiles> {
  // Takes a while to load, and servers that show no pages do without.
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: '/assets',
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target,
    loader: { '.woff2': 'file', '.svg': 'copy' },
    plugins: [styleTexts(esbuild)],
    // Licences ask for their notices to travel along.
    legalComments: 'eof',
    // The configuration is for checking; in an image it may be missing.
    tsconfigRaw: {},
    logLevel: 'silent'
  })
  // Its helper process is not needed again.
  await esbuild.stop()
  const declarations = await readFile(join(root, 'web/client/interface.ts'))
  const files = await Promise.all([
    ...outputFiles.map(({ path, contents }) => fileOf(path.slice('/assets/'.length), contents)),
    fileOf('client.d.ts', declarations)
  ])
  const byName = new Map(files.map(file => [plainName(file.name), file]))
  return {
    named: name => {
      const file = byName.get(name)
      if (file === undefined) throw new Error(`there is no web file ${name}`)
      return file
    },
    hashed: name => byName.get(plainName(name))
  }
}

/** `player-A7KLSN7G.js` is a `player.js`. */
const plainName = (name: string) => name.replace(/-[A-Z2-7]{8}(\.\w+)$/, '$1')

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  ts: 'text/plain; charset=utf-8'
}

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

async function fileOf(name: string, contents: Uint8Array): Promise<WebFile> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  // Fonts are compressed in themselves. The levels are the highest, since this is done once.
  const prepared =
    extension === 'woff2' ? {} : { br: await asBrotli(contents), gzip: await asGzip(contents, { level: 9 }) }
  return {
    name,
    contentType: contentTypes[extension] ?? 'application/octet-stream',
    body: contents,
    etag: `W/"${createHash('sha1').update(contents).digest('base64url').slice(0, 16)}"`,
    position: null,
    prepared
  }
}

/** A script that imports a style sheet gets its minified text: elements with a shadow bring their own. */
function styleTexts(esbuild: typeof Esbuild): Esbuild.Plugin {
  return {
    name: 'style texts',
    setup: build => {
      build.onLoad({ filter: /\.css$/ }, async ({ path, with: { type } }) => {
        if (type !== 'text') return undefined
        const { outputFiles } = await esbuild.build({
          entryPoints: [path],
          bundle: true,
          minify: true,
          write: false,
          target
        })
        return { contents: outputFiles[0]?.text ?? '', loader: 'text' }
      })
    }
  }
}
