import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

import type { CachedResponse } from '../model/station/cached-response.ts'
import { builtFileUrl } from '../platform/process/program-files.ts'
import { loadOnce } from '../platform/runtime/cache.ts'

/** A file for browsers, built by `scripts/build.mjs`. `name` contains a hash: `player-A7KLSN7G.js`. */
export interface WebFile extends CachedResponse {
  readonly name: string
  readonly contentType: string
}

/** Returns the files, which are read by the first call. */
export const loadWebFiles = loadOnce(async () => {
  const names: string[] = JSON.parse(await readFile(builtFileUrl('web/files.json'), 'utf8'))
  const files = await Promise.all(names.map(readWebFile))
  const parts = new Map(files.filter(({ name }) => isPart(name)).map(file => [file.name, file]))
  const byName = new Map(files.filter(({ name }) => !isPart(name)).map(file => [removeHash(file.name), file]))
  return {
    /** Finds a file by its name without the hash, `player.js`. Throws if it does not exist. */
    get(name: string): WebFile {
      const file = byName.get(name)
      if (file === undefined) throw new Error(`unknown web file: ${name}`)
      return file
    },
    /**
     * Finds a file by its name with the hash of this or of another version of the program. Parts of a script
     * fit only the version that they were built with.
     */
    findHashed: (name: string): WebFile | undefined =>
      isPart(name) ? parts.get(name) : byName.get(removeHash(name))
  }
})

const isPart = (name: string) => name.startsWith('part-')

const removeHash = (name: string) => name.replace(/-[A-Z2-7]{8}(\.\w+)$/, '$1')

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  ts: 'text/plain; charset=utf-8'
}

async function readWebFile(name: string): Promise<WebFile> {
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const read = async (suffix: string) => readFile(builtFileUrl(`web/${name}${suffix}`))
  const body = await read('')
  // Fonts are compressed already.
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
