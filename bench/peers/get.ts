import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { readCpuSeconds } from '../cpu.ts'
import type { ProgramOnAir } from '../on-air.ts'
import { pollAtConstantRate } from '../polls.ts'
import { positiveIntegers, runs, seconds } from '../settings.ts'
import { formatNumber, formatRatio, formatSpread, quantile } from '../statistics.ts'
import { printTable } from '../table.ts'
import { findTool } from '../tools.ts'
import { runWrk, type WrkResult } from '../wrk.ts'
import { quote, startNginx } from './nginx.ts'
import { startPeer } from './process.ts'

/** A response of Cuewire, which the peers serve as well. */
interface PeerDocument {
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
  /** One result per run. */
  readonly measured: readonly (WrkResult & { readonly cpuMicroseconds: number })[]
}

const connectionCounts = positiveIntegers('CONNECTIONS', [1, 16, 64, 256])
const constantRate = { connections: 64, rate: 10_000 }
const uwsPort = 18_211
const nginxPort = 18_212
const warmUpSeconds = 1
/** Headers that each server sets itself. */
const ownHeaders = new Set(['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive', 'etag'])

/**
 * Compares GET of one and of all stations with the same bytes from nginx and a minimal uWebSockets.js server.
 */
export async function measureGet(program: ProgramOnAir, stations: number): Promise<readonly GetResult[]> {
  const wrk = findTool('wrk', 'peers: GET')
  if (wrk === null) return []
  const documents = [
    await readDocument('one station', program, '/api/nowplaying/1'),
    await readDocument(`${stations} stations`, program, '/api/nowplaying')
  ]
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-get-'))
  const servers = [describeCuewire(program, documents)]
  try {
    servers.push(await startUws(documents, folder))
    const nginx = findTool('nginx', 'peers: GET from nginx')
    if (nginx !== null) servers.push(await startStaticNginx(nginx, documents))
    for (const server of servers.slice(1)) await assertSame(server, documents)
    const results: GetResult[] = []
    for (const [index, document] of documents.entries()) {
      for (const connections of connectionCounts)
        results.push(...(await measureAlternately(wrk, servers, index, document.name, connections)))
      report(document, results)
    }
    await measureAtConstantRate(servers)
    return results
  } finally {
    for (const server of servers) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureAlternately(
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
      const before = readCpuSeconds(server.pid)
      const result = await runWrk(wrk, url, { connections, seconds })
      const cpuMicroseconds = ((readCpuSeconds(server.pid) - before) / result.requests) * 1e6
      measured.push({ ...result, cpuMicroseconds })
    }
  }
  return rows.map(({ server, measured }) => ({ peer: server.name, document: name, connections, measured }))
}

/**
 * Measures the latency of all servers at the same rate. wrk sends more requests to a faster server, so its
 * latencies are those of its own saturated core.
 */
async function measureAtConstantRate(servers: readonly Server[]): Promise<void> {
  const rows = servers.map(server => ({ server, measured: new Array<readonly number[]>() }))
  for (let run = 0; run < runs; run++)
    for (const { server, measured } of rows)
      measured.push(await pollAtConstantRate(server.urls[0] ?? '', constantRate))
  console.log(
    `\nGET one station at ${formatNumber(constantRate.rate)}/s on ${constantRate.connections} connections, ${runs} runs of ${seconds} s`
  )
  const shares = [0.5, 0.9, 0.99, 0.999]
  printTable(
    ['server', ...shares.map(share => `p${share * 100} ms`)],
    rows.map(({ server, measured }) => [
      server.name,
      ...shares.map(share =>
        formatSpread(
          measured.map(latencies => quantile(latencies, share)),
          2
        )
      )
    ])
  )
}

/** Requests an uncompressed response, as wrk does. */
const uncompressedRequest = () => ({
  headers: { 'Accept-Encoding': 'identity' },
  signal: AbortSignal.timeout(5_000)
})

async function readDocument(name: string, program: ProgramOnAir, path: string): Promise<PeerDocument> {
  const response = await fetch(program.baseUrl + path, uncompressedRequest())
  const headers = [...response.headers].filter(([header]) => !ownHeaders.has(header))
  return { name, path, body: await response.text(), headers }
}

/** Throws if the body or the headers of a peer differ, except the headers that each server sets itself. */
async function assertSame({ name, urls }: Server, documents: readonly PeerDocument[]): Promise<void> {
  for (const [index, { body, headers }] of documents.entries()) {
    const response = await fetch(urls[index] ?? '', uncompressedRequest())
    const isSame =
      (await response.text()) === body &&
      headers.every(([header, value]) => ownHeaders.has(header) || response.headers.get(header) === value)
    if (!isSame) throw new Error(`${name}: the response of ${urls[index]} differs from that of Cuewire`)
  }
}

function describeCuewire(program: ProgramOnAir, documents: readonly PeerDocument[]): Server {
  return {
    name: 'Cuewire',
    pid: program.serverPid(),
    urls: documents.map(({ path }) => program.baseUrl + path),
    stop: () => Promise.resolve()
  }
}

async function startUws(documents: readonly PeerDocument[], folder: string): Promise<Server> {
  const files: string[] = []
  for (const [index, { path, body, headers }] of documents.entries()) {
    const [[name, value] = ['', ''], ...others] = headers
    const lines = [value, ...others.map(([other, text]) => `${other}: ${text}`)].join('\r\n')
    const file = join(folder, `${index}.json`)
    await writeFile(file, JSON.stringify({ path, name, lines, body }))
    files.push(file)
  }
  const script = fileURLToPath(new URL('uws-get.ts', import.meta.url))
  const uwsCommand = [process.execPath, '--import', 'tsx', script, String(uwsPort), ...files]
  const peer = await startPeer(uwsCommand, uwsPort)
  return {
    ...peer,
    name: 'uWebSockets.js',
    urls: documents.map(({ path }) => `http://127.0.0.1:${uwsPort}${path}`)
  }
}

async function startStaticNginx(nginx: string, documents: readonly PeerDocument[]): Promise<Server> {
  const files = Object.fromEntries(documents.map(({ body }, index) => [`${index}.json`, body]))
  const peer = await startNginx(nginx, nginxPort, {
    files,
    server: folder => [
      `root ${folder};`,
      ...documents.flatMap(({ headers }, index) => [
        `location = /${index}.json {`,
        ...headers.map(([name, value]) =>
          name === 'content-type'
            ? `types { } default_type ${quote(value)};`
            : `add_header ${name} ${quote(value)};`
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

function report({ name, body }: PeerDocument, results: readonly GetResult[]): void {
  console.log(`\nGET ${name}: ${formatNumber(Buffer.byteLength(body))} bytes, ${runs} runs of ${seconds} s`)
  const rows = results
    .filter(({ document }) => document === name)
    .map(result => {
      const of = (field: Field, measured = result.measured) => measured.map(each => each[field])
      const own = results.find(
        each => each.peer === 'Cuewire' && each.document === name && each.connections === result.connections
      )
      const renderRatio = (field: Field) =>
        result.peer === 'Cuewire' ? '' : formatRatio(of(field, own?.measured ?? []), of(field))
      return [
        String(result.connections),
        result.peer,
        formatSpread(of('perSecond')),
        renderRatio('perSecond'),
        formatSpread(of('p50'), 2),
        formatSpread(of('p99'), 2),
        formatSpread(of('cpuMicroseconds'), 1),
        renderRatio('cpuMicroseconds')
      ]
    })
  printTable(
    [
      'connections',
      'server',
      'requests/s',
      'Cuewire / server',
      'p50 ms',
      'p99 ms',
      'CPU per request, us',
      'Cuewire / server'
    ],
    rows
  )
}
