import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { cpuOf } from '../cpu.ts'
import type { OnAir } from '../on-air.ts'
import { pollSteadily } from '../polls.ts'
import { runs, seconds, wholes } from '../settings.ts'
import { number, quantile, ratio, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { findTool } from '../tools.ts'
import { runWrk, type WrkResult } from '../wrk.ts'
import { quoted, startNginx } from './nginx.ts'
import { startPeer } from './process.ts'

/** What the program answered; the peers answer the same. */
interface Document {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

interface Server {
  readonly name: string
  readonly pid: number
  readonly urls: readonly string[]
  stop(): Promise<void>
}

export interface GetResult {
  readonly peer: string
  readonly document: string
  readonly connections: number
  /** In the order of the runs. */
  readonly measured: readonly (WrkResult & { readonly cpuMicroseconds: number })[]
}

const connectionCounts = wholes('CONNECTIONS', [1, 16, 64, 256])
const steady = { connections: 64, rate: 10_000 }
const uwsPort = 18_211
const nginxPort = 18_212
const warmUpSeconds = 1
/** Each server writes these itself. */
const ownHeaders = new Set(['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive', 'etag'])

/** GET one station and GET all against the same bytes from nginx and a bare uWebSockets.js, in turn. */
export async function measureGet(program: OnAir, stations: number): Promise<readonly GetResult[]> {
  const wrk = findTool('wrk', 'peers: GET')
  if (wrk === null) return []
  const documents = [
    await read('one station', program, '/api/nowplaying/1'),
    await read(`${stations} stations`, program, '/api/nowplaying')
  ]
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-get-'))
  const servers = [cuewire(program, documents)]
  try {
    servers.push(await startUws(documents, folder))
    const nginx = findTool('nginx', 'peers: GET from nginx')
    if (nginx !== null) servers.push(await startStatic(nginx, documents))
    for (const server of servers.slice(1)) await assertSame(server, documents)
    const results: GetResult[] = []
    for (const [index, document] of documents.entries()) {
      for (const connections of connectionCounts)
        results.push(...(await measureInTurn(wrk, servers, index, document.name, connections)))
      report(document, results)
    }
    await measureSteadily(servers)
    return results
  } finally {
    for (const server of servers) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureInTurn(
  wrk: string,
  servers: readonly Server[],
  document: number,
  name: string,
  connections: number
): Promise<GetResult[]> {
  const rows = servers.map(server => ({
    server,
    measured: new Array<WrkResult & { cpuMicroseconds: number }>()
  }))
  for (let run = 0; run < runs; run++) {
    for (const { server, measured } of rows) {
      const url = server.urls[document] ?? ''
      await runWrk(wrk, url, { connections, seconds: warmUpSeconds })
      const before = cpuOf(server.pid)
      const result = await runWrk(wrk, url, { connections, seconds })
      const cpuMicroseconds = ((cpuOf(server.pid) - before) / result.requests) * 1e6
      measured.push({ ...result, cpuMicroseconds })
    }
  }
  return rows.map(({ server, measured }) => ({ peer: server.name, document: name, connections, measured }))
}

/**
 * Latency at the same rate. wrk sends more to the faster server, up to its own limit, where it is its own
 * core that is measured.
 */
async function measureSteadily(servers: readonly Server[]): Promise<void> {
  const rows = servers.map(server => ({ server, measured: new Array<readonly number[]>() }))
  for (let run = 0; run < runs; run++)
    for (const { server, measured } of rows) measured.push(await pollSteadily(server.urls[0] ?? '', steady))
  console.log(
    `\nGET one station at ${number(steady.rate)}/s on ${steady.connections} connections, ${runs} runs of ${seconds} s`
  )
  const shares = [0.5, 0.9, 0.99, 0.999]
  printTable(
    ['server', ...shares.map(share => `p${share * 100} ms`)],
    rows.map(({ server, measured }) => [
      server.name,
      ...shares.map(share =>
        spread(
          measured.map(latencies => quantile(latencies, share)),
          2
        )
      )
    ])
  )
}

/** As wrk asks: uncompressed. */
const plainly = () => ({ headers: { 'Accept-Encoding': 'identity' }, signal: AbortSignal.timeout(5_000) })

async function read(name: string, program: OnAir, path: string): Promise<Document> {
  const answer = await fetch(program.baseUrl + path, plainly())
  const headers = [...answer.headers].filter(([header]) => !ownHeaders.has(header))
  return { name, path, body: await answer.text(), headers }
}

/**
 * Throws unless a peer answers the same bytes under the same headers, which may differ in those it writes
 * itself.
 */
async function assertSame({ name, urls }: Server, documents: readonly Document[]): Promise<void> {
  for (const [index, { body, headers }] of documents.entries()) {
    const answer = await fetch(urls[index] ?? '', plainly())
    const isSame =
      (await answer.text()) === body &&
      headers.every(([header, value]) => ownHeaders.has(header) || answer.headers.get(header) === value)
    if (!isSame) throw new Error(`${name} does not answer the same`)
  }
}

function cuewire(program: OnAir, documents: readonly Document[]): Server {
  return {
    name: 'Cuewire',
    pid: program.serverPid(),
    urls: documents.map(({ path }) => program.baseUrl + path),
    stop: () => Promise.resolve()
  }
}

async function startUws(documents: readonly Document[], folder: string): Promise<Server> {
  const files: string[] = []
  for (const [index, { path, body, headers }] of documents.entries()) {
    const [[name, value] = ['', ''], ...others] = headers
    const lines = [value, ...others.map(([other, text]) => `${other}: ${text}`)].join('\r\n')
    const file = join(folder, `${index}.json`)
    await writeFile(file, JSON.stringify({ path, name, lines, body }))
    files.push(file)
  }
  const script = fileURLToPath(new URL('uws-get.ts', import.meta.url))
  const words = [process.execPath, '--import', 'tsx', script, String(uwsPort), ...files]
  const peer = await startPeer(words, uwsPort)
  return {
    ...peer,
    name: 'uWebSockets.js',
    urls: documents.map(({ path }) => `http://127.0.0.1:${uwsPort}${path}`)
  }
}

async function startStatic(nginx: string, documents: readonly Document[]): Promise<Server> {
  const files = Object.fromEntries(documents.map(({ body }, index) => [`${index}.json`, body]))
  const peer = await startNginx(nginx, nginxPort, {
    files,
    server: folder => [
      `root ${folder};`,
      ...documents.flatMap(({ headers }, index) => [
        `location = /${index}.json {`,
        ...headers.map(([name, value]) =>
          name === 'content-type'
            ? `types { } default_type ${quoted(value)};`
            : `add_header ${name} ${quoted(value)};`
        ),
        '}'
      ])
    ]
  })
  return {
    ...peer,
    name: 'nginx',
    urls: documents.map((_, index) => `http://127.0.0.1:${nginxPort}/${index}.json`)
  }
}

type Field = 'perSecond' | 'p50' | 'p99' | 'cpuMicroseconds'

function report({ name, body }: Document, results: readonly GetResult[]): void {
  console.log(`\nGET ${name}: ${number(Buffer.byteLength(body))} bytes, ${runs} runs of ${seconds} s`)
  const rows = results
    .filter(({ document }) => document === name)
    .map(result => {
      const of = (field: Field, measured = result.measured) => measured.map(each => each[field])
      const own = results.find(
        each => each.peer === 'Cuewire' && each.document === name && each.connections === result.connections
      )
      const times = (field: Field) =>
        result.peer === 'Cuewire' ? '' : ratio(of(field, own?.measured ?? []), of(field))
      return [
        String(result.connections),
        result.peer,
        spread(of('perSecond')),
        times('perSecond'),
        spread(of('p50'), 2),
        spread(of('p99'), 2),
        spread(of('cpuMicroseconds'), 1),
        times('cpuMicroseconds')
      ]
    })
  printTable(
    [
      'connections',
      'server',
      'requests/s',
      'Cuewire: times as many',
      'p50 ms',
      'p99 ms',
      'CPU per request, us',
      'Cuewire: times as much'
    ],
    rows
  )
}
