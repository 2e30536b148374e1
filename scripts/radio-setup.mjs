/**
 * Makes a station of a running Cuewire one that is heard: `node scripts/radio-setup.mjs`. It gives the station the
 * backend `liquidsoap`, and writes what Icecast and Liquidsoap are started with into a folder:
 *
 *     icecast2 -c FOLDER/icecast.xml
 *     set -a; . FOLDER/liquidsoap.env; liquidsoap FOLDER/station.liq
 *
 * Passwords and keys are made once and kept there. A station without a song that can be played gets some melodies.
 * Started again it changes nothing that still fits. Uses nothing but Node.
 *
 *     CUEWIRE_URL               http://127.0.0.1:8080   where Cuewire answers
 *     DATA_DIR                  .data                   its data folder: the key of all rights, and the media of its stations
 *     ADMIN_API_KEY                                     that key, if it is not in DATA_DIR/admin-key
 *     RADIO_STATION             demo                    short name of the station, which is made where there is none
 *     RADIO_DIR                 DATA_DIR/radio          the folder
 *     RADIO_LISTEN_URL          http://localhost:8000   where listeners reach Icecast
 *     ICECAST_HOST ICECAST_PORT 127.0.0.1 8000          where Cuewire and Liquidsoap reach it
 *     ICECAST_ADDRESS           0.0.0.0                 the address it listens on
 *     MELODY_SECONDS            28                      length of a melody, about
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { addMelodies } from './radio/library.mjs'

const set = (name, fallback) => process.env[name] || fallback
const dataFolder = resolve(set('DATA_DIR', '.data'))
const folder = resolve(set('RADIO_DIR', join(dataFolder, 'radio')))
const cuewire = set('CUEWIRE_URL', 'http://127.0.0.1:8080').replace(/\/+$/, '')
const host = set('ICECAST_HOST', '127.0.0.1')
const port = set('ICECAST_PORT', '8000')
const listenUrl = set('RADIO_LISTEN_URL', 'http://localhost:8000').replace(/\/+$/, '')
const melodySeconds = Number(set('MELODY_SECONDS', '28'))
const waitMs = 120_000
const requestMs = 15_000

async function main() {
  await untilCuewireAnswers()
  const key = await adminKey()
  const ask = (method, path, body) => request(method, path, { 'X-API-Key': key }, body)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const secrets = await readSecrets()
  await writeSecret('secrets.json', `${JSON.stringify(secrets, null, 2)}\n`)

  const station = await findOrMake(ask, set('RADIO_STATION', 'demo'))
  await addMelodies({
    ask: async (method, path, body) => must(await ask(method, path, body), `${method} ${path}`),
    station,
    mediaFolder: join(dataFolder, 'stations', String(station.id), 'media'),
    melodySeconds,
    say
  })
  await must(
    await ask('PUT', `/api/admin/station/${station.id}`, {
      backend: 'liquidsoap',
      frontend: 'icecast',
      frontend_url: `http://${host}:${port}`,
      frontend_admin_password: secrets.adminPassword,
      enable_streamers: true
    }),
    'the station'
  )
  await nameListenAddresses(ask, station.id)
  await keepPlayoutKey(ask, station.id, secrets)
  await writeFiles(ask, station.id, secrets)
  say(
    `${station.name}: ${listenUrl}/radio.mp3 as soon as Icecast and Liquidsoap run with what is in ${folder}`
  )
}

/** Its server may be starting. */
async function untilCuewireAnswers() {
  const endsAt = Date.now() + waitMs
  for (;;) {
    const answer = await request('GET', '/api/status', {}).catch(() => null)
    if (answer?.status === 200) return
    if (Date.now() > endsAt) throw new Error(`${cuewire} did not answer within ${waitMs / 1000} s`)
    await pause(500)
  }
}

async function adminKey() {
  if (process.env.ADMIN_API_KEY) return process.env.ADMIN_API_KEY
  const file = join(dataFolder, 'admin-key')
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new Error(`set ADMIN_API_KEY: ${file} cannot be read`, { cause: error })
  }
}

async function request(method, path, headers, body) {
  const answer = await fetch(cuewire + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    signal: AbortSignal.timeout(requestMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text }
}

function must({ status, body }, what) {
  if (status >= 200 && status < 300) return body
  throw new Error(`${what} was answered with ${status}: ${body?.message ?? ''}`)
}

async function findOrMake(ask, shortName) {
  const found = must(await ask('GET', '/api/admin/stations'), 'the list of stations')
  const known = found.find(station => station.short_name === shortName)
  if (known) return known
  const body = { name: shortName, short_name: shortName }
  return must(await ask('POST', '/api/admin/stations', body), 'the new station')
}

const made = () => randomBytes(18).toString('hex')

/** What was made before stays what it is. */
async function readSecrets() {
  const file = join(folder, 'secrets.json')
  const kept = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {}
  return { playoutKey: '', sourcePassword: made(), adminPassword: made(), ...kept }
}

/** Mounts are at Icecast, unless somebody said where. */
async function nameListenAddresses(ask, stationId) {
  const mounts = must(await ask('GET', `/api/station/${stationId}/hls_streams`), 'the list of mounts')
  for (const { id, name, custom_listen_url: url } of mounts) {
    if (url !== '') continue
    const body = { custom_listen_url: listenUrl + name }
    must(await ask('PUT', `/api/station/${stationId}/hls_stream/${id}`, body), `the mount ${name}`)
  }
}

/** Asks with the key that is kept for a file that is nowhere: 404 says that the key fits, 403 that it does not. */
async function keepPlayoutKey(ask, stationId, secrets) {
  const headers = { 'X-Liquidsoap-Api-Key': secrets.playoutKey }
  const path = `/api/internal/${stationId}/liquidsoap/cp`
  const { status } =
    secrets.playoutKey === '' ? { status: 403 } : await request('POST', path, headers, { uri: '-' })
  if (status === 404) return
  if (status !== 403)
    throw new Error(`the playout's key cannot be tried: ${path} was answered with ${status}`)
  const { playout_key: playoutKey } = must(
    await ask('POST', `/api/station/${stationId}/playout-key`),
    'the playout key'
  )
  secrets.playoutKey = playoutKey
  await writeSecret('secrets.json', `${JSON.stringify(secrets, null, 2)}\n`)
}

async function writeFiles(ask, stationId, secrets) {
  const script = must(await ask('GET', `/api/admin/station/${stationId}/liquidsoap`), 'the script')
  await write('station.liq', script, 0o644)
  const variables = {
    CUEWIRE_URL: cuewire,
    CUEWIRE_PLAYOUT_KEY: secrets.playoutKey,
    ICECAST_HOST: host,
    ICECAST_PORT: port,
    ICECAST_SOURCE_PASSWORD: secrets.sourcePassword
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value.replaceAll("'", '')}'\n`)
  await writeSecret('liquidsoap.env', lines.join(''))
  const places = {
    HOSTNAME: new URL(listenUrl).hostname,
    ADDRESS: set('ICECAST_ADDRESS', '0.0.0.0'),
    PORT: port,
    SOURCE_PASSWORD: secrets.sourcePassword,
    ADMIN_PASSWORD: secrets.adminPassword
  }
  const template = await readFile(new URL('../assets/radio/icecast.xml', import.meta.url), 'utf8')
  await writeSecret(
    'icecast.xml',
    template.replace(/@([A-Z_]+)@/g, (_, name) => asXml(places[name]))
  )
}

function asXml(text) {
  return text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`)
}

const writeSecret = (name, text) => write(name, text, 0o600)

/** Whole or not at all. */
async function write(name, text, mode) {
  const path = join(folder, name)
  await writeFile(`${path}.new`, text, { mode })
  await rename(`${path}.new`, path)
}

function say(sentence) {
  console.log(`radio-setup: ${sentence}`)
}

try {
  await main()
} catch (error) {
  console.error(`radio-setup: ${String(error?.message ?? error)}`)
  process.exitCode = 1
}
