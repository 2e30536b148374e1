/**
 * Corrects four faults of postgres 3.4.9 that show when a connection is lost (a restarted or failed-over server):
 *
 * - a query made on a connection without a socket threw from a timer, which ended the process (its issue 1208);
 * - a write that was waiting when the connection closed left the pool slot unable to send anything ever again;
 * - a transaction whose connection was lost went on sending its statements over whatever that slot held next;
 * - a connection that was lost while it asked for the types of arrays, which is the first thing it does, ended the process.
 *
 * Runs after every install and before every start; does nothing where it has been. Remove it once a release has
 * the corrections; the test `a lost connection costs its transaction and nothing else` tells.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', 'postgres')
const version = '3.4.9'

const corrections = {
  'src/connection.js': [
    [
      `    if (terminated)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))
`,
      `    if (terminated)
      return queryError(q, Errors.connection('CONNECTION_DESTROYED', options))

    if (socket === null) {
      queryError(q, Errors.connection('CONNECTION_CLOSED', options))
      return true
    }
`
    ],
    [
      `    incomings = null
    clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
      `    incomings = null
    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`
    ],
    [
      `    clearImmediate(nextWriteTimer)
    if (socket) {`,
      `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    if (socket) {`
    ],
    ['return fetchArrayTypes()\n', 'return fetchArrayTypes().catch(() => {})\n']
  ],
  'src/index.js': [
    [
      `      , connection
      , prepare = null

    try {`,
      `      , connection
      , prepare = null
      , lost = null

    try {`
    ],
    [
      'new Promise((_, reject) => connection.onclose = reject)',
      'new Promise((_, reject) => connection.onclose = error => reject(lost = error))'
    ],
    [
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        lost
          ? q.reject(lost)
          : c.queue === full`
    ]
  ]
}

/** Applies what is missing. Throws if the package is another version or its text is not what it should be. */
export function patchPostgres() {
  const installed = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
  if (installed !== version)
    throw new Error(`postgres ${installed} is installed, the corrections are for ${version}`)
  for (const [file, pairs] of Object.entries(corrections)) {
    const path = join(root, file)
    const text = readFileSync(path, 'utf8')
    const patched = pairs.reduce((result, [from, to]) => {
      if (result.includes(to)) return result
      if (!result.includes(from)) throw new Error(`${file} of postgres ${version} is not what it should be`)
      return result.replace(from, () => to)
    }, text)
    if (patched !== text) writeFileSync(path, patched)
  }
}

// Without the packages for development it is not there.
if (process.argv[1] === fileURLToPath(import.meta.url) && existsSync(root)) patchPostgres()
