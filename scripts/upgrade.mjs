/**
 * Installs the release of a tarball beside the running one, or returns to the one before: `cuewire upgrade`. Uses only
 * Node, tar, and systemctl if it is there.
 *
 * The release that runs is the one that the link leads to (`/opt/cuewire`). Everything before the link is replaced
 * leaves it and its release alone, and everything can be repeated: after a kill at any moment, the same command
 * finishes the work.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { isAlive } from './running-programs.mjs'

const usage = `usage: cuewire upgrade FILE.tar.gz [options]
       cuewire upgrade --back [options]

Verifies the tarball with FILE.tar.gz.sha256, unpacks it beside the running release, verifies the checksums of its files,
migrates the database, and lets the link lead to it. The release before stays; --back lets the link lead to it again.

  --link PATH     the link to the running release; by default "cuewire" beside the folder of this one
  --sha256 HEX    the checksum, instead of that in FILE.tar.gz.sha256
  --user NAME     migrates as this user if called by root; "cuewire" by default, if it exists
  --no-migrate    leaves the migration to the first process of the new release
  --restart       restarts the units of Cuewire, one after the other
  --help          show this help
`

const unpacking = '.cuewire-unpacking-'
const lockName = '.cuewire-upgrade.lock'
const topPattern = /^cuewire-\d+\.\d+\.\d+(\+[0-9a-z.]+)?$/
/** A migration may update millions of rows. */
const migrateMs = 3_700_000
const systemctlMs = 120_000
const unitFolder = '/etc/systemd/system'

class UpgradeError extends Error {}

try {
  process.umask(0o022)
  run()
} catch (error) {
  if (!(error instanceof UpgradeError) && error?.code === undefined) throw error
  console.error(`cuewire: ${error.message}`)
  process.exitCode = 1
}

function run() {
  const { values: options, positionals } = parse()
  if (options.help) {
    process.stdout.write(usage)
    return
  }
  if (options.back ? positionals.length > 0 : positionals.length !== 1)
    throw new UpgradeError('name one tarball, or --back; cuewire upgrade --help shows the options')
  const link = findLink(options.link)
  const unlock = lock(dirname(link))
  try {
    if (options.back) goBack(link)
    else install(resolve(process.env.INIT_CWD ?? '', positionals[0]), link, options)
  } finally {
    unlock()
  }
  const release = realpathSync(link)
  reportUnits(release)
  restart(options.restart)
}

function parse() {
  const flag = { type: 'boolean', default: false }
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        back: flag,
        link: { type: 'string' },
        sha256: { type: 'string' },
        user: { type: 'string' },
        'no-migrate': flag,
        restart: flag,
        help: { ...flag, short: 'h' }
      }
    })
  } catch (error) {
    throw new UpgradeError(error.message.split('. ')[0])
  }
}

/** Returns the absolute path of the link to the release that runs. */
function findLink(given) {
  const here = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))))
  const path =
    given === undefined ? join(dirname(here), 'cuewire') : resolve(process.env.INIT_CWD ?? '', given)
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new UpgradeError(`${path} is not a link: name the link to the running release with --link`)
  if (!existsSync(path))
    throw new UpgradeError(`${path} leads to nothing: let it lead to a release (ln -sfn)`)
  return path
}

/** Throws if another upgrade runs. Returns how to release the lock, which a process that was killed does not hold. */
function lock(folder) {
  const path = join(folder, lockName)
  const own = `${path}.${process.pid}`
  writeFileSync(own, String(process.pid))
  const tryLock = () => {
    try {
      linkSync(own, path)
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      return false
    }
  }
  try {
    if (!tryLock()) {
      const holder = Number(readText(path))
      if (holder > 0 && isAlive(holder)) throw new UpgradeError(`another upgrade runs (pid ${holder})`)
      rmSync(path, { force: true })
      if (!tryLock()) throw new UpgradeError('another upgrade has just begun')
    }
  } finally {
    rmSync(own, { force: true })
  }
  return () => rmSync(path, { force: true })
}

function goBack(link) {
  const before = `${link}-previous`
  if (!existsSync(before)) throw new UpgradeError(`there is no release before: ${before} does not exist`)
  if (realpathSync(before) === realpathSync(link))
    throw new UpgradeError(`${link} already leads to the release before, ${realpathSync(link)}`)
  replaceLink(link, realpathSync(before))
  console.log(`${link} leads to ${realpathSync(link)} again`)
}

function install(tarball, link, options) {
  const parent = dirname(link)
  removeUnfinished(parent)
  verifyTarball(tarball, options.sha256)
  const target = unpack(tarball, parent)
  // Also shows whether this machine can run it.
  call(target, ['version'], {}, `${target} cannot run here`)
  if (!options['no-migrate']) {
    const account = findAccount(options.user)
    call(
      target,
      ['migrate'],
      { ...account, timeout: migrateMs },
      'the database was not migrated, and nothing was changed'
    )
  }
  const current = realpathSync(link)
  if (current === target) return console.log(`${link} leads to ${target} already`)
  replaceLink(`${link}-previous`, current)
  replaceLink(link, target)
  console.log(`${link} leads to ${target}, ${link}-previous to ${current}`)
}

/** What an upgrade left behind that was killed while it unpacked. */
function removeUnfinished(parent) {
  for (const name of readdirSync(parent))
    if (name.startsWith(unpacking)) rmSync(join(parent, name), { recursive: true, force: true })
}

function verifyTarball(tarball, given) {
  if (!existsSync(tarball)) throw new UpgradeError(`${tarball} does not exist`)
  const sums = given ?? readText(`${tarball}.sha256`)
  const [wanted = ''] = /^[0-9a-f]{64}(?=\s|$)/i.exec(sums.trim()) ?? []
  if (wanted === '')
    throw new UpgradeError(
      given === undefined
        ? `${tarball}.sha256 has no checksum: download it as well, or use --sha256`
        : '--sha256 is not a checksum of 64 hexadecimal digits'
    )
  if (hashFile(tarball) !== wanted.toLowerCase())
    throw new UpgradeError(`${tarball} is damaged or another one: its checksum differs. Download it again`)
}

/** Unpacks the release beside the others, complete or not at all. Returns its folder. */
function unpack(tarball, parent) {
  const work = join(parent, `${unpacking}${process.pid}`)
  mkdirSync(work)
  try {
    const { status } = spawnSync('tar', ['-xzf', tarball, '-C', work, '--no-same-owner'], {
      stdio: ['ignore', 'ignore', 'inherit']
    })
    if (status !== 0) throw new UpgradeError(`${tarball} cannot be unpacked; see above`)
    const [top = '', ...others] = readdirSync(work)
    if (!topPattern.test(top) || others.length > 0)
      throw new UpgradeError(`${tarball} is not a release of Cuewire: it has no folder cuewire-VERSION`)
    verifyFiles(join(work, top))
    const target = join(parent, top)
    if (existsSync(target)) {
      verifyFiles(target)
      if (readText(join(target, 'SHA256SUMS')) !== readText(join(work, top, 'SHA256SUMS')))
        throw new UpgradeError(`${target} exists and is another one: remove it, or install it elsewhere`)
      return target
    }
    // The files are on the disk before the link leads to them.
    spawnSync('sync')
    renameSync(join(work, top), target)
    return target
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Compares the files of a release with its SHA256SUMS; files that are not listed count as well. */
function verifyFiles(folder) {
  const lines = readText(join(folder, 'SHA256SUMS')).split('\n').slice(0, -1)
  const sums = new Map(lines.map(line => [line.slice(66), line.slice(0, 64)]))
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .filter(name => name !== 'SHA256SUMS')
  const isIntact = name =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() &&
    hashFile(join(folder, name)) === sums.get(name)
  const wrong = [...new Set([...found, ...sums.keys()])].find(name => !isIntact(name))
  if (sums.size === 0 || wrong !== undefined)
    throw new UpgradeError(
      `${folder} is damaged: ${wrong ?? 'SHA256SUMS'} is missing, or differs from its checksum`
    )
}

/** Root migrates as the user that runs Cuewire. */
function findAccount(given) {
  if (process.getuid?.() !== 0) return {}
  const name = given ?? 'cuewire'
  const numbers = ['-u', '-g'].map(option => spawnSync('id', [option, name], { encoding: 'utf8' }))
  if (numbers.some(({ status }) => status !== 0)) {
    if (given !== undefined) throw new UpgradeError(`there is no user ${name}`)
    return {}
  }
  const [uid, gid] = numbers.map(({ stdout }) => Number(stdout))
  return { uid, gid }
}

/** Runs a command of a release; throws `failure` if it does not exit with 0. */
function call(release, args, settings, failure) {
  const { status, error } = spawnSync(join(release, 'bin/cuewire'), args, {
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 60_000,
    ...settings
  })
  if (status !== 0) throw new UpgradeError(`${failure}${error ? ` (${error.message})` : '; see above'}`)
}

/** Replaces a link at once: it leads to the one or the other. */
function replaceLink(link, target) {
  const made = `${link}.new`
  rmSync(made, { force: true })
  // Relative, so that the folder of all can be moved.
  symlinkSync(dirname(target) === dirname(link) ? basename(target) : target, made)
  renameSync(made, link)
}

/** Says which unit files differ from those of the release, which are not changed: operators may have edited them. */
function reportUnits(release) {
  const folder = join(release, 'ops/systemd/system')
  if (!existsSync(folder)) return
  const differing = readdirSync(folder, { recursive: true }).filter(name => {
    const installed = readText(join(unitFolder, name))
    return installed !== '' && /\.(service|conf)$/.test(name) && installed !== readText(join(folder, name))
  })
  if (differing.length > 0)
    console.log(`these files in ${unitFolder} differ from those in ${folder}: ${differing.join(', ')}`)
}

function restart(isWanted) {
  const listed = spawnSync(
    'systemctl',
    [
      'list-units',
      '--all',
      '--plain',
      '--no-legend',
      '--state=active,activating,failed',
      'cuewire-*.service'
    ],
    { encoding: 'utf8', timeout: systemctlMs }
  )
  const units = (listed.stdout ?? '')
    .split('\n')
    .flatMap(line => /^(cuewire-\S+)\.service\s/.exec(line)?.[1] ?? [])
    .filter(name => !name.startsWith('cuewire-radio'))
    .toSorted()
  if (units.length === 0) return console.log('now restart the servers one after the other, then the workers')
  if (!isWanted)
    return console.log(
      `now restart one after the other:\n${units.map(name => `  systemctl restart ${name}\n`).join('')}`
    )
  for (const name of units) {
    console.log(`restarting ${name}`)
    const { status } = spawnSync('systemctl', ['restart', name], { stdio: 'inherit', timeout: systemctlMs })
    if (status !== 0)
      throw new UpgradeError(`${name} did not start: see journalctl -u ${name}, and cuewire upgrade --back`)
  }
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function hashFile(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
