import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

import * as v from 'valibot'

import { builtFile } from '../runtime/program-files.ts'
import type { CachedResponse } from '../station/document.ts'

/*
 * What browsers load is bundled and compressed by the build (`scripts/build.mjs`). A server process reads it when the
 * first page is requested and keeps it in memory.
 */

/** A file for browsers, in all codings. `name` changes with its content: `player-A7KLSN7G.js`. */
export interface WebFile extends CachedResponse {
  readonly name: string
  readonly contentType: string
}

export interface WebFiles {
  /** By the name without the hash, `player.js`. Throws if there is none. */
  readonly named: (name: string) => WebFile
  /**
   * By a name with a hash, this one's or that of another version of the program; undefined if there is none.
   */
  readonly hashed: (name: string) => WebFile | undefined
}

/** Returns the files, which are read at the first call. A call after a failure reads again. */
export function openWebFiles(): () => Promise<WebFiles> {
  let files: Promise<WebFiles> | null = null
  return () => {
    files ??= readWebFiles().catch((error: unknown) => {
      files = null
      throw error
    })
    return files
  }
}

const fileNames = v.array(v.string())

async function readWebFiles(): Promise<WebFiles> {
  const names = v.parse(fileNames, JSON.parse(await readFile(builtFile('web/files.json'), 'utf8')))
  const files = await Promise.all(names.map(readWebFile))
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

async function readWebFile(name: string): Promise<WebFile> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const read = async (suffix: string) => readFile(builtFile(`web/${name}${suffix}`))
  const body = await read('')
  // Fonts are compressed in themselves.
  const prepared = extension === 'woff2' ? {} : { br: await read('.br'), gzip: await read('.gz') }
  return {
    name,
    contentType: contentTypes[extension] ?? 'application/octet-stream',
    body,
    etag: `W/"${createHash('sha1').update(body).digest('base64url').slice(0, 16)}"`,
    position: null,
    prepared
  }
}
