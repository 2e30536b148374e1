/**
 * Writes a release: `npm run release`, into the folder `release`, for each platform whose packages have checksums in
 * package-lock.json.
 *
 *     cuewire-0.3.0-linux-x64.tar.gz           dist, the packages that it loads, bin, scripts, ops, docs
 *     cuewire-0.3.0-linux-x64.tar.gz.sha256    its checksum, for `sha256sum --check` and `cuewire upgrade`
 *
 * A tarball has one folder, `cuewire-0.3.0+abc1234`, with the checksums of its files in SHA256SUMS. The same commit and
 * Node result in the same bytes.
 *
 *     --out FOLDER       another folder
 *     --modules FOLDER   these installed packages instead of those that npm downloads
 *     --allow-dirty      also with changes that are not committed
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'

import { pack } from 'tar-stream'

import { buildProgram } from './build.mjs'
import { findCommit } from './find-commit.mjs'
import { supportedNodes } from './uws-binding.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What a release has besides `dist` and packages. */
const parts = ['bin', 'scripts', 'assets/radio', 'ops', 'docs', 'package.json']
const texts = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE']
/** Only useful with the sources. */
const leftOut = ['scripts/release.mjs', 'docs/screenshots', 'docs/simulated-week.svg']
const platforms = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' }
]

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'release' },
    modules: { type: 'string' },
    'allow-dirty': { type: 'boolean', default: false }
  }
})
async function release() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const commit = findCommit(root)
  if (commit === '') throw new Error('the commit is unknown: this is not a clone, or git is missing')
  if (commit.endsWith('.dirty') && !options['allow-dirty'])
    throw new Error('there are changes that are not committed (git status)')
  const work = mkdtempSync(join(tmpdir(), 'cuewire-release-'))
  try {
    const folder = join(work, `cuewire-${version}+${commit}`)
    await addProgram(folder)
    for (const platform of platforms) {
      const name = `${platform.os}-${platform.cpu}`
      const needed = listNeeded(platform)
      const unverified = needed.filter(each => each.integrity === undefined)
      if (unverified.length > 0) {
        console.log(`not for ${name}: package-lock.json has no checksum of ${unverified[0].path}`)
        continue
      }
      if (options.modules !== undefined && name !== `${process.platform}-${process.arch}`) continue
      rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
      addModules(needed, work, join(folder, 'node_modules'))
      await writeRelease(folder, `cuewire-${version}-${name}.tar.gz`)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function addProgram(folder) {
  await buildProgram(root, join(folder, 'dist'))
  // Times of the sources, by which a clone knows whether its build is stale.
  rmSync(join(folder, 'dist', '.build.json'))
  for (const name of [...parts, ...texts]) cpSync(join(root, name), join(folder, name), { recursive: true })
  // Without a folder `src`, by which scripts know a clone.
  cpSync(join(root, 'src/live/PROTOCOL.md'), join(folder, 'docs/PROTOCOL.md'))
  for (const name of leftOut) rmSync(join(folder, name), { recursive: true, force: true })
}

async function writeRelease(folder, name) {
  rmSync(join(folder, 'SHA256SUMS'), { force: true })
  writeFileSync(join(folder, 'SHA256SUMS'), renderChecksums(folder))
  const out = resolve(root, options.out)
  mkdirSync(out, { recursive: true })
  const file = join(out, name)
  await writeTarball(file, folder, findTime())
  const checksum = hashFile(file)
  writeFileSync(`${file}.sha256`, `${checksum}  ${name}\n`)
  console.log(`${relative(root, file)}, ${basename(folder)}, sha256 ${checksum}`)
}

/** The time of the commit in Unix seconds, or SOURCE_DATE_EPOCH, as other tools for reproducible builds. */
function findTime() {
  return Number(
    process.env.SOURCE_DATE_EPOCH ||
      execFileSync('git', ['-C', root, 'log', '-1', '--format=%ct'], { encoding: 'utf8' })
  )
}

/** The packages that `dist` loads at run time on a platform, and where they are in `node_modules`. */
function listNeeded(platform) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(
      ([path, entry]) =>
        path !== '' &&
        !entry.dev &&
        !entry.devOptional &&
        !isTypes(path) &&
        (!entry.optional || isForPlatform(entry, platform))
    )
    .map(([path, entry]) => ({ ...entry, path: relative('node_modules', path) }))
}

const isTypes = path => /node_modules\/(@types\/|undici-types$)/.test(path)

/** Whether an optional package holds a binary for a platform with glibc, and for a Node that can run it. */
function isForPlatform({ os, cpu, libc, engines }, platform) {
  if (os === undefined || cpu === undefined) return false
  const [, from] = /^>=\s*(\d+)\.\S+ </.exec(engines?.node ?? '') ?? []
  return (
    (from === undefined || supportedNodes.includes(Number(from))) &&
    os.includes(platform.os) &&
    cpu.includes(platform.cpu) &&
    (libc === undefined || [libc].flat().includes('glibc'))
  )
}

function addModules(needed, work, target) {
  if (options.modules === undefined) downloadModules(needed, work, target)
  else copyModules(needed, resolve(root, options.modules), target)
}

const nameOf = ({ name, path }) => name ?? path.replace(/^.*node_modules\//, '')

/**
 * Downloads packages and verifies them by the checksums of package-lock.json. `npm ci` would leave out those for other
 * platforms and versions of Node. No script of a package runs.
 */
function downloadModules(needed, work, target) {
  const folder = join(work, 'packages')
  mkdirSync(folder, { recursive: true })
  const specs = new Set(needed.map(each => `${nameOf(each)}@${each.version}`))
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', ...specs], { cwd: folder, stdio: 'inherit' })
  for (const each of needed) {
    const file = `${nameOf(each).replace(/^@/, '').replace('/', '-')}-${each.version}.tgz`
    const hash = createHash('sha512')
      .update(readFileSync(join(folder, file)))
      .digest('base64')
    if (each.integrity !== `sha512-${hash}`) throw new Error(`the checksum of ${file} is another one`)
    mkdirSync(join(target, each.path), { recursive: true })
    // Packages have one folder, whatever its name is.
    const words = ['-xzf', join(folder, file), '-C', join(target, each.path), '--strip-components=1']
    execFileSync('tar', [...words, '--no-same-owner'])
  }
}

/** Copies installed packages. Those of other platforms are missing. */
function copyModules(needed, source, target) {
  for (const { path, optional } of needed) {
    if (optional && !existsSync(join(source, path))) continue
    // Packages inside of it are entries of their own.
    const filter = each => !relative(join(source, path), each).split('/').includes('node_modules')
    cpSync(join(source, path), join(target, path), { recursive: true, filter, dereference: true })
  }
}

/** Lines of `sha256sum`. */
function renderChecksums(folder) {
  return listFiles(folder)
    .map(name => `${hashFile(join(folder, name))}  ${name}\n`)
    .join('')
}

const hashFile = path => createHash('sha256').update(readFileSync(path)).digest('hex')

/** Sorted paths of all files in a folder. */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => !entry.isDirectory())
    .map(entry => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .toSorted()
}

/** Independent of times, owners, modes and the order of files on this machine. */
async function writeTarball(path, folder, seconds) {
  const tar = pack()
  const written = createWriteStream(path)
  tar.pipe(createGzip({ level: 9 })).pipe(written)
  const common = { uid: 0, gid: 0, mtime: new Date(seconds * 1_000) }
  const top = basename(folder)
  const folders = new Set()
  const add = (header, contents) =>
    new Promise((done, fail) =>
      tar.entry({ ...common, ...header }, contents, error => (error ? fail(error) : done()))
    )
  for (const name of listFiles(folder)) {
    const parents = name.split('/').slice(0, -1)
    for (let depth = 0; depth <= parents.length; depth++) {
      const parent = [top, ...parents.slice(0, depth)].join('/')
      if (folders.has(parent)) continue
      folders.add(parent)
      await add({ name: `${parent}/`, type: 'directory', mode: 0o755 }, '')
    }
    const mode = name.startsWith('bin/') ? 0o755 : 0o644
    await add({ name: `${top}/${name}`, mode }, readFileSync(join(folder, name)))
  }
  tar.finalize()
  await finished(written)
}

try {
  await release()
} catch (error) {
  console.error(`cuewire: no release was written: ${error.message}`)
  process.exitCode = 1
}
