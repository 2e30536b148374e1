import { readFileSync } from 'node:fs'

import { openUwsApp } from '../../src/http/uws.ts'

/**
 * A minimal uWebSockets.js server: `uws-get.ts PORT FILE...`, where each file is a `ServedDocument`. The body
 * is one buffer, and all headers are written with one call, as in Cuewire.
 */
interface ServedDocument {
  readonly path: string
  readonly name: string
  /** The value of the header `name`, followed by all other headers as lines. */
  readonly lines: string
  readonly body: string
}

const [port = '0', ...files] = process.argv.slice(2)
const app = openUwsApp()
for (const file of files) {
  const { path, name, lines, body }: ServedDocument = JSON.parse(readFileSync(file, 'utf8'))
  const bytes = Buffer.from(body)
  app.get(path, res => {
    res.writeHeader(name, lines)
    if (bytes.length <= 256 * 1024) res.end(bytes)
    else {
      const start = res.getWriteOffset()
      res.onAborted(() => {})
      res.onWritable(offset => res.tryEnd(bytes.subarray(offset - start), bytes.length)[0])
      res.tryEnd(bytes, bytes.length)
    }
  })
}
app.listen('127.0.0.1', Number(port), token => {
  if (!token) process.exit(1)
  process.once('SIGTERM', () => process.exit())
})
