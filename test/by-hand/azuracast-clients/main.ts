/**
 * Calls every method of clients of AzuraCast, unmodified, and writes the results to `results.md`:
 *
 *     node scripts/run.mjs test/by-hand/azuracast-clients/main.ts CLONES OPENAPI.yml [--only NAME] [--page FILE]
 *
 * CLONES is a folder with clones of the clients' repositories, named `Owner+name`. Every call is also made to
 * a server that answers with the samples of AzuraCast's OpenAPI document: a client that fails with it cannot
 * read what AzuraCast answers. Python 3 with `venv`, and
 * PHP with the extensions `curl`, `gd` and `mbstring` and with Guzzle 7 on its include path, are required
 * (Debian: `php-cli php-curl php-gd php-mbstring php-guzzlehttp-guzzle`).
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { mp3 } from '../../support/audio-bytes.ts'
import { applyDifferences } from '../azuracast-coverage/differences.ts'
import { type OpenApiDocument, readDocument } from '../azuracast-coverage/document.ts'
import { startWorld, type World } from '../azuracast-coverage/world.ts'
import { type Client, clients, type Installed } from './clients.ts'
import { startDocumentedServer } from './documented-server.ts'

interface Call {
  readonly call: string
  readonly result: 'ok' | 'failed' | 'not called'
  readonly detail: string
}

type Target = Pick<World, 'baseUrl' | 'key' | 'known'>

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly problem: string | null
}

const clientMs = 180_000
const heading = `# Clients of AzuraCast

Written by \`test/by-hand/azuracast-clients/main.ts\`: every method that sends a request, called once against
Cuewire in the dialect of AzuraCast, and against a server that answers with the samples of AzuraCast's OpenAPI
document. A client that fails with both cannot read what AzuraCast 0.23.7 answers. The clients are unmodified.`
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    page: { type: 'string', default: 'test/by-hand/azuracast-clients/results.md' }
  }
})
const [clones, openApi] = positionals
if (clones === undefined || openApi === undefined) {
  process.stdout.write('usage: see test/by-hand/azuracast-clients/main.ts\n')
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await run(clones, applyDifferences(readDocument(readFileSync(openApi, 'utf8'))))

async function run(mirrors: string, document: OpenApiDocument): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'azuracast-clients-'))
  try {
    const sections: string[] = []
    for (const client of clients.filter(({ name }) => name.includes(values.only))) {
      const installed = client.install(folder, mirrors)
      // Each client gets a new installation, so that none sees what another has made.
      await using world = await startWorld()
      await using documented = await startDocumentedServer(document)
      const calls = await callAll(client, installed, world, folder)
      const expected = await callAll(client, installed, { ...world, baseUrl: documented.baseUrl }, folder)
      sections.push(renderSection(client, calls, expected))
      writeFileSync(values.page, `${heading}\n\n${sections.join('\n\n')}\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function callAll(
  client: Client,
  { command, env }: Installed,
  world: Target,
  folder: string
): Promise<Call[]> {
  const audio = join(folder, 'song.mp3')
  writeFileSync(audio, mp3({ TIT2: 'Song', TPE1: 'Client' }, 200))
  const [file, ...args] = command
  const { PATH = '', HOME = '' } = process.env
  const options = {
    timeout: clientMs,
    maxBuffer: 16 * 1024 * 1024,
    env: {
      PATH,
      HOME,
      BASE_URL: world.baseUrl,
      API_KEY: world.key,
      STATION: String(world.known['station']),
      STORAGE: String(world.known['storagePath']),
      AUDIO: audio,
      ...env
    }
  }
  const { stdout, stderr, problem } = await new Promise<Output>(resolve => {
    execFile(file, args, options, (error, out, err) =>
      resolve({ stdout: out, stderr: err, problem: error === null ? null : error.message })
    )
  })
  if (stderr !== '') process.stderr.write(stderr)
  const calls = stdout.split('\n').filter(line => line.startsWith('{'))
  if (problem !== null) throw new Error(`${client.name} ended after ${calls.length} calls: ${problem}`)
  return calls.map(line => JSON.parse(line))
}

function renderSection(
  { name, version, license }: Client,
  calls: readonly Call[],
  expected: readonly Call[]
): string {
  const count = (result: Call['result']) => calls.filter(each => each.result === result).length
  const documented = new Map(expected.map(each => [each.call, each]))
  const rows = calls.map(({ call, result, detail }) => {
    const about = detail
      .replaceAll('|', '\\|')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
      .replaceAll(/\/tmp\/[^/]+\//g, '')
    return `| \`${call}\` | ${result} | ${documented.get(call)?.result ?? ''} | ${about} |`
  })
  const isOurs = ({ call, result }: Call) => result !== 'ok' && documented.get(call)?.result === 'ok'
  return [
    `## ${name}`,
    '',
    `Version ${version}, license: ${license}. ${calls.length} calls: ${count('ok')} ok, ${count('failed')} failed, ${count('not called')} not called. ${calls.filter(isOurs).length} of those that are not ok are ok with the documented answers.`,
    '',
    '| call | Cuewire | documented answers | |',
    '|---|---|---|---|',
    ...rows
  ].join('\n')
}
