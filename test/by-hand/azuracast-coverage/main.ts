/**
 * Calls every operation of AzuraCast's OpenAPI document and writes the results to `docs/azuracast.md`:
 *
 *     npm run azuracast-coverage -- OPENAPI.yml [--url URL --key KEY] [--page FILE] [--details FILE]
 *
 * Without `--url`, it starts the program with a seeded station in the dialect of AzuraCast. The document is
 * `web/static/openapi.yml` in AzuraCast's repository. Against another server, records that the command makes
 * are deleted again, except copies. It changes the settings of that server and the queue and requests of a
 * station, so do not use it against one that broadcasts.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { openClient, signIn } from './client.ts'
import { applyDifferences } from './differences.ts'
import { readDocument } from './document.ts'
import { type OperationResult, runOperations } from './run.ts'
import { renderCounts, renderTable, replaceTable } from './table.ts'
import { joinWorld, startWorld } from './world.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    key: { type: 'string' },
    page: { type: 'string', default: 'docs/azuracast.md' },
    details: { type: 'string' }
  }
})
const [file] = positionals
if (file === undefined || (values.url !== undefined && values.key === undefined)) {
  print(
    'usage: npm run azuracast-coverage -- OPENAPI.yml [--url URL --key KEY] [--page FILE] [--details FILE]'
  )
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await cover(file)

async function cover(path: string): Promise<void> {
  const { url, key = '', page, details } = values
  const documented = readDocument(readFileSync(path, 'utf8'))
  const document = applyDifferences(documented)
  await using world = url === undefined ? await startWorld() : await joinWorld(url.replace(/\/$/, ''), key)
  const served = await fetch(`${world.baseUrl}/api/openapi.json`)
  const results = await runOperations({
    document,
    bodies: documented.schemas,
    send: openClient(world.baseUrl, world.key),
    session: () => signIn(world.baseUrl, 'coverage@example.com', 'a long enough password'),
    known: world.known,
    served: await served.text(),
    onResult: async result => {
      report(result)
      await world.complete(result.operation.id)
    }
  })
  print(renderCounts(results))
  // In the order of the document.
  const ordered = results.toSorted(
    (a, b) => document.operations.indexOf(a.operation) - document.operations.indexOf(b.operation)
  )
  writeFileSync(page, replaceTable(readFileSync(page, 'utf8'), renderTable(ordered, document.version)))
  if (details !== undefined) writeFileSync(details, `${JSON.stringify(ordered, null, 1)}\n`)
}

function report({ operation, verdict, effect }: OperationResult): void {
  const problem = typeof effect === 'string' ? `; effect: ${effect}` : ''
  print(`${operation.method} ${operation.path}: ${JSON.stringify(verdict)}${problem}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
