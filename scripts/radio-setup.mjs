/**
 * Sets up Icecast and Liquidsoap for a station of a running Cuewire: `node scripts/radio-setup.mjs`. Sets the backend
 * of the station to `liquidsoap` and writes the configuration of both into a folder:
 *
 *     icecast2 -c FOLDER/icecast.xml
 *     set -a; . FOLDER/liquidsoap.env; liquidsoap FOLDER/station.liq
 *     set -a; . FOLDER/liquidsoap.env; liquidsoap FOLDER/standby.liq
 *
 * Passwords and keys are created once and stored there. A station without a playable song gets some melodies.
 * Idempotent. Uses only Node.
 *
 *     CUEWIRE_URL               http://127.0.0.1:8080   URL of Cuewire; without it and DATA_DIR, of the one that runs here
 *     DATA_DIR                  .data                   its data folder, with the admin key and the media
 *     ADMIN_API_KEY                                     the admin key, if it is not in DATA_DIR/admin-key,
 *     ADMIN_API_KEY_FILE                                or the path of a file that contains it
 *     RADIO_STATION             demo                    short name of the station, created if missing
 *     RADIO_DIR                 DATA_DIR/radio          the folder
 *     RADIO_LISTEN_URL          http://localhost:8000   URL of Icecast for listeners
 *     ICECAST_HOST ICECAST_PORT 127.0.0.1 8000          its address for Cuewire and Liquidsoap
 *     ICECAST_ADDRESS           0.0.0.0                 the address that it listens on
 *     MELODY_SECONDS            28                      approximate length of a melody
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { addMelodies } from './radio/library.mjs'
import { chooseProgram } from './running-programs.mjs'
import { readVariableFiles } from './variable-files.mjs'

const env = (name, fallback) => process.env[name] || fallback
const running = await chooseProgram().catch(error => {
  console.error(`radio-setup: ${error.message}`)
  process.exit(1)
})
const dataFolder = resolve(env('DATA_DIR', running?.dataDir ?? '.data'))
const folder = resolve(env('RADIO_DIR', join(dataFolder, 'radio')))
const cuewire = env('CUEWIRE_URL', running?.url ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')
const host = env('ICECAST_HOST', '127.0.0.1')
const port = env('ICECAST_PORT', '8000')
const listenUrl = env('RADIO_LISTEN_URL', 'http://localhost:8000').replace(/\/+$/, '')
const melodySeconds = Number(env('MELODY_SECONDS', '28'))
const waitMs = 120_000
const requestMs = 15_000

async function main() {
  log(`using the Cuewire at ${cuewire}, with DATA_DIR ${dataFolder}`)
  await waitForCuewire()
  const key = await adminKey()
  const call = (method, path, body) => request(method, path, { 'X-API-Key': key }, body)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const secrets = await readSecrets()
  await writeSecret('secrets.json', `${JSON.stringify(secrets, null, 2)}\n`)

  const station = await findOrCreate(call, env('RADIO_STATION', 'demo'))
  await addMelodies({
    call: async (method, path, body) => requireSuccess(await call(method, path, body), `${method} ${path}`),
    station,
    mediaFolder: mediaFolderOf(station.id),
    melodySeconds,
    log
  })
  await requireSuccess(
    await call('PUT', `/api/admin/station/${station.id}`, {
      backend: 'liquidsoap',
      frontend: 'icecast',
      frontend_url: `http://${host}:${port}`,
      frontend_admin_password: secrets.adminPassword,
      enable_streamers: true
    }),
    'the station'
  )
  const mounts = await showMounts(call, station, secrets)
  await ensurePlayoutKey(call, station.id, secrets)
  await writeFiles(call, station.id, { secrets, mounts })
  log(`${station.name}: ${listenUrl}/radio.mp3 once Icecast and Liquidsoap run with the files in ${folder}`)
}

async function waitForCuewire() {
  const endsAt = Date.now() + waitMs
  for (;;) {
    const answer = await request('GET', '/api/status', {}).catch(() => null)
    if (answer?.status === 200) return
    if (Date.now() > endsAt) throw new Error(`${cuewire} did not answer within ${waitMs / 1000} s`)
    await pause(500)
  }
}

async function adminKey() {
  const { values, problems } = readVariableFiles(process.env)
  const problem = problems.find(sentence => sentence.startsWith('ADMIN_API_KEY'))
  if (problem) throw new Error(problem)
  const given = process.env.ADMIN_API_KEY || values.ADMIN_API_KEY
  if (given) return given
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

function requireSuccess({ status, body }, what) {
  if (status >= 200 && status < 300) return body
  throw new Error(`${what} was answered with ${status}: ${body?.message ?? ''}`)
}

async function findOrCreate(call, shortName) {
  const found = requireSuccess(await call('GET', '/api/admin/stations'), 'the list of stations')
  const known = found.find(station => station.short_name === shortName)
  if (known) return known
  const body = { name: shortName, short_name: shortName }
  return requireSuccess(await call('POST', '/api/admin/stations', body), 'the new station')
}

const newSecret = () => randomBytes(18).toString('hex')

/** Existing secrets are kept. */
async function readSecrets() {
  const file = join(folder, 'secrets.json')
  const stored = existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {}
  return { playoutKey: '', sourcePassword: newSecret(), adminPassword: newSecret(), ...stored }
}

const mediaFolderOf = stationId => join(dataFolder, 'stations', String(stationId), 'media')

/**
 * Sets the listen URL of mounts without one and of those that an earlier run has set, and shows the mount of the demo.
 * Returns the paths of mounts with sound, and those of their intros.
 */
async function showMounts(call, station, secrets) {
  const path = `/api/station/${station.id}/hls_stream`
  const mounts = requireSuccess(await call('GET', `${path}s`), 'the list of mounts')
  for (const { id, name, custom_listen_url: url, is_visible_on_public_pages: isVisible } of mounts) {
    const isOwn = url === '' || url === secrets.listenUrl + name
    if (!isOwn || url === listenUrl + name) continue
    // The mount of the demo is hidden until it has sound. Other mounts may be hidden by an operator.
    const isHiddenDemo = station.short_name === 'demo' && url === '' && !isVisible
    const body = {
      custom_listen_url: listenUrl + name,
      ...(isHiddenDemo ? { is_visible_on_public_pages: true } : {})
    }
    requireSuccess(await call('PUT', `${path}/${id}`, body), `the mount ${name}`)
  }
  secrets.listenUrl = listenUrl
  await writeSecret('secrets.json', `${JSON.stringify(secrets, null, 2)}\n`)
  return Promise.all(
    mounts
      .filter(({ enable_autodj: hasSound }) => hasSound)
      .map(async ({ id, name }) => ({ name, intro: await writeIntro(station.id, id) }))
  )
}

/** Writes the intro of a mount to the folder. Returns its path; null if there is none. */
async function writeIntro(stationId, mountId) {
  const answer = await fetch(`${cuewire}/api/station/${stationId}/mount/${mountId}/intro`, {
    headers: { 'X-API-Key': await adminKey() },
    signal: AbortSignal.timeout(requestMs)
  })
  if (answer.status === 404) return null
  if (!answer.ok) throw new Error(`the intro of mount ${mountId} was answered with ${answer.status}`)
  const name = `intro-${mountId}`
  await write(name, Buffer.from(await answer.arrayBuffer()), 0o644)
  return join(folder, name)
}

/**
 * Creates a playout key unless the stored one is valid: a request for a missing file returns 404 with it,
 * else 403.
 */
async function ensurePlayoutKey(call, stationId, secrets) {
  const headers = { 'X-Liquidsoap-Api-Key': secrets.playoutKey }
  const path = `/api/internal/${stationId}/liquidsoap/cp`
  const { status } =
    secrets.playoutKey === '' ? { status: 403 } : await request('POST', path, headers, { uri: '-' })
  if (status === 404) return
  if (status !== 403)
    throw new Error(`the playout key could not be checked: ${path} was answered with ${status}`)
  const { playout_key: playoutKey } = requireSuccess(
    await call('POST', `/api/station/${stationId}/playout-key`),
    'the playout key'
  )
  secrets.playoutKey = playoutKey
  await writeSecret('secrets.json', `${JSON.stringify(secrets, null, 2)}\n`)
}

async function writeFiles(call, stationId, { secrets, mounts }) {
  const path = `/api/admin/station/${stationId}/liquidsoap`
  await write('station.liq', requireSuccess(await call('GET', path), 'the script'), 0o644)
  await write('standby.liq', requireSuccess(await call('GET', `${path}/standby`), 'the standby'), 0o644)
  const variables = {
    CUEWIRE_URL: cuewire,
    CUEWIRE_PLAYOUT_KEY: secrets.playoutKey,
    ICECAST_HOST: host,
    ICECAST_PORT: port,
    ICECAST_SOURCE_PASSWORD: secrets.sourcePassword,
    // Played while Cuewire or the script is away; tones are heard instead if it does not exist.
    CUEWIRE_MEDIA: mediaFolderOf(stationId)
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value.replaceAll("'", '')}'\n`)
  await writeSecret('liquidsoap.env', lines.join(''))
  const places = {
    HOSTNAME: new URL(listenUrl).hostname,
    ADDRESS: env('ICECAST_ADDRESS', '0.0.0.0'),
    PORT: port,
    SOURCE_PASSWORD: secrets.sourcePassword,
    ADMIN_PASSWORD: secrets.adminPassword
  }
  const template = await readFile(new URL('../assets/radio/icecast.xml', import.meta.url), 'utf8')
  const [, webroot] = /<webroot>(.*)<\/webroot>/.exec(template)
  const filled = template.replace(/@([A-Z_]+)@/g, (_, name) => asXml(places[name]))
  await writeSecret(
    'icecast.xml',
    filled.replace('<!-- fallbacks -->', () => mounts.map(mount => renderMount(mount, webroot)).join(''))
  )
}

/** Moves the listeners of a mount to its standby, and back. Icecast finds an intro from its web root. */
function renderMount({ name: path, intro }, webroot) {
  const name = asXml(path)
  const introLine =
    intro === null
      ? ''
      : `
    <intro>${asXml(relative(webroot, intro))}</intro>`
  return `<mount type="normal">
    <mount-name>${name}</mount-name>
    <charset>UTF-8</charset>
    <fallback-mount>/standby${name}</fallback-mount>
    <fallback-override>1</fallback-override>${introLine}
  </mount>
  `
}

function asXml(text) {
  return text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`)
}

const writeSecret = (name, text) => write(name, text, 0o600)

/** Replaces the file atomically. */
async function write(name, text, mode) {
  const path = join(folder, name)
  await writeFile(`${path}.new`, text, { mode })
  await rename(`${path}.new`, path)
}

function log(sentence) {
  console.log(`radio-setup: ${sentence}`)
}

try {
  await main()
} catch (error) {
  console.error(`radio-setup: ${String(error?.message ?? error)}`)
  process.exitCode = 1
}
