/**
 * Builds the program into `dist`: `npm run build`. Other commands build it if it is missing or stale
 * (`scripts/run.mjs`).
 *
 * `dist` mirrors the project: `src/server.ts` becomes `dist/src/server.js`, bundled with the modules it
 * imports. Shared modules are in chunks beside it. Packages are bundled, except those in `dependencies` of
 * package.json, which are loaded from `node_modules`. Files that are read at run time are copied. `dist/web`
 * contains the bundled and compressed web files, listed in `dist/web/files.json`, and
 * `dist/THIRD-PARTY-LICENSES.txt` the licenses of bundled packages.
 *
 * Every file is replaced by a rename, and files that refer to others are written last, so that concurrent
 * builds and starting processes are safe. Files of the previous build are kept for running programs.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

import { findCommit } from './find-commit.mjs'
import { renderLicenses } from './third-party-licenses.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The programs, and worker threads. */
export const entries = [
  'src/main.ts',
  'src/server.ts',
  'workers/main.ts',
  'src/commands/import/main.ts',
  'src/commands/from-azuracast/main.ts',
  'src/commands/backup/main.ts',
  'src/commands/doctor/main.ts',
  'src/commands/migrate/main.ts',
  'src/library/media/audio-file-thread.ts',
  'src/library/media/waveform-thread.ts',
  'src/commands/simulate/main.ts',
  'src/library/storage/remote-thread.ts',
  'src/api/playlists/simulation-thread.ts',
  'src/library/storage/remote-files-thread.ts'
]

/** The sources of `dist`; folders include all their files. */
const sources = [
  'src',
  'workers',
  'web',
  'assets',
  'package.json',
  'package-lock.json',
  // The patches may be applied after a build.
  'node_modules/busboy/lib',
  'node_modules/postgres/src',
  'node_modules/csv-parse/lib',
  'scripts/build.mjs',
  'scripts/find-commit.mjs',
  'scripts/running-programs.mjs',
  'scripts/third-party-licenses.mjs',
  'scripts/uws-binding.mjs',
  'scripts/variable-files.mjs'
]

/** Entries of web files by output name. */
export const webEntries = {
  client: 'web/client/client.ts',
  player: 'web/player/player-page.ts',
  widget: 'web/widget/widget.ts',
  hls: 'web/elements/hls.ts',
  'player-style': 'web/player/player.css',
  gallery: 'web/gallery/gallery-page.ts',
  'gallery-style': 'web/gallery/gallery.css',
  dashboard: 'web/dashboard/dashboard-page.ts',
  'dashboard-style': 'web/dashboard/dashboard.css',
  embed: 'web/embed/embed.css',
  message: 'web/message/message.css',
  icon: 'web/design/icon.svg'
}

/** Supported browsers: those of the last two and a half years. */
const browsers = ['chrome123', 'edge123', 'firefox121', 'safari17.5']

/**
 * Builds unless `dist` is up to date, and logs it on stderr. Returns whether it built. Throws if a file does
 * not compile or a package is missing.
 *
 * @param {string} [folder] the project
 */
export async function buildIfStale(folder = root) {
  if (!isStale(folder)) {
    updateCommit(folder)
    return false
  }
  const startedAt = performance.now()
  await buildProgram(folder)
  console.error(`cuewire: built dist in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  return true
}

/**
 * Whether `dist` is missing, incomplete or older than its sources. False without sources, as in a container
 * image.
 *
 * @param {string} [folder] the project
 */
export function isStale(folder = root) {
  const dist = join(folder, 'dist')
  const { times, contents, files: built } = readStamp(dist)
  const files = sourceFiles(folder)
  if (files.length === 0) return false
  if (built.some(name => !existsSync(join(dist, name)))) return true
  if (times === hashTimes(folder, files)) return false
  if (contents !== hashContents(folder, files)) return true
  // Only the times differ, as after a copy or checkout.
  try {
    writeStamp(dist, { ...readStamp(dist), times: hashTimes(folder, files) })
  } catch {
    // Only makes the next start faster.
  }
  return false
}

/** The build names another commit if only other files have changed. Does nothing without sources. */
function updateCommit(folder) {
  const path = join(folder, 'dist', 'package.json')
  if (sourceFiles(folder).length === 0) return
  const manifest = renderManifest(folder)
  try {
    if (read(path)?.toString() !== manifest) replaceFile(path, manifest)
  } catch {
    // The folder belongs to another user, whose next start does it.
  }
}

/** The package.json of `dist`, whose `commit` is empty if it is unknown. */
function renderManifest(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `${JSON.stringify({ ...manifest, commit: findCommit(folder) }, null, 2)}\n`
}

/**
 * Builds into `dist` of a project, or into another folder.
 *
 * @param {string} folder the project
 * @param {string} [dist]
 */
export async function buildProgram(folder, dist = join(folder, 'dist')) {
  const files = sourceFiles(folder)
  // Before any source is read, so that a change during the build makes it stale.
  const stamp = { times: hashTimes(folder, files), contents: hashContents(folder, files) }
  const esbuild = await import('esbuild')
  const before = readStamp(dist).files
  const inputs = new Set(swaggerFiles)
  try {
    const [program, web] = await Promise.all([
      bundleProgram(esbuild, folder, inputs),
      bundleWeb(esbuild, folder, inputs).then(outputs => compressAll(dist, outputs))
    ])
    const licenses = { name: 'THIRD-PARTY-LICENSES.txt', contents: renderLicenses(folder, inputs) }
    const outputs = [...web, ...copies(folder), licenses, ...program]
    for (const { name, contents } of outputs) replaceFile(join(dist, name), contents)
    const names = outputs.map(({ name }) => name)
    writeStamp(dist, { ...stamp, files: names })
    removeOthers(dist, new Set([...names, ...before, stampName]))
  } finally {
    await esbuild.stop()
  }
}

/** Bundles the program, entries last. Adds its source files to `inputs`. */
async function bundleProgram(esbuild, folder, inputs) {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: folder,
    metafile: true,
    entryPoints: entries,
    outbase: '.',
    outdir: 'dist',
    chunkNames: 'src/[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys(dependencies),
    // For stack traces.
    sourcemap: true,
    sourcesContent: false,
    plugins: [withoutMapsOfPackages, onlyNeededOfBullMQ],
    // ES modules first, because CommonJS modules are included whole.
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    minifySyntax: true,
    // CommonJS packages load Node's modules by `require`.
    banner: {
      js: `import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);`
    },
    tsconfigRaw: {},
    logLevel: 'silent'
  })
  addInputs(inputs, metafile)
  const isEntry = name => entries.includes(name.replace(/\.js$/, '.ts'))
  const outputs = outputFiles.map(({ path, contents }) => ({
    name: relative(join(folder, 'dist'), path),
    contents
  }))
  return outputs.toSorted((one, other) => Number(isEntry(one.name)) - Number(isEntry(other.name)))
}

/** A source map with one mapping for a whole file. esbuild ignores an empty one. */
const smallMap = Buffer.from('{"version":3,"sources":["package"],"mappings":"AAAA"}').toString('base64')

/** Removes source maps of packages, three quarters of the maps that each process reads when it starts. */
const withoutMapsOfPackages = {
  name: 'without maps of packages',
  setup: plugin => {
    plugin.onLoad({ filter: /[/\\]node_modules[/\\].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${smallMap}`,
      loader: 'js'
    }))
  }
}

/**
 * Removes unused modules of BullMQ, whose package.json does not declare that they are free of side effects.
 */
const onlyNeededOfBullMQ = {
  name: 'only what is needed of BullMQ',
  setup: plugin => {
    plugin.onResolve({ filter: /^(bullmq$|\.)/ }, async ({ path, pluginData, ...from }) => {
      const isInside = /[/\\]node_modules[/\\]bullmq[/\\]/.test(from.importer)
      if (pluginData === onlyNeededOfBullMQ || !(isInside || path === 'bullmq')) return undefined
      const resolved = await plugin.resolve(path, { ...from, pluginData: onlyNeededOfBullMQ })
      return { ...resolved, sideEffects: false }
    })
  }
}

/**
 * Bundles the web files; the result is reproducible. The dashboard is split into parts, which it loads when
 * they are shown; every other script is one file. Adds their source files to `inputs`.
 */
async function bundleWeb(esbuild, folder, inputs) {
  const { dashboard, ...single } = webEntries
  const options = {
    absWorkingDir: folder,
    metafile: true,
    outdir: '/assets',
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    // Parts belong to one release: `part-` tells the server not to send those of another.
    chunkNames: 'part-[name]-[hash]',
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: browsers,
    loader: { '.woff2': 'file', '.svg': 'copy' },
    plugins: [styleTexts(esbuild, folder, inputs)],
    // Licenses require their notices.
    legalComments: 'eof',
    // Initial values of fields are assigned, so that they reach the accessors of Lit.
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    logLevel: 'silent'
  }
  const builds = await Promise.all([
    esbuild.build({ ...options, entryPoints: single }),
    esbuild.build({ ...options, entryPoints: { dashboard }, splitting: true })
  ])
  for (const { metafile } of builds) addInputs(inputs, metafile)
  const outputFiles = builds.flatMap(build => build.outputFiles)
  const declarations = readFileSync(join(folder, 'web/client/interface.ts'))
  return [
    ...outputFiles.map(({ path, contents }) => ({ name: path.slice('/assets/'.length), contents })),
    { name: 'client.d.ts', contents: declarations }
  ]
}

/** Imports of style sheets by scripts return minified text, for elements with a shadow root. */
function styleTexts(esbuild, folder, inputs) {
  return {
    name: 'style texts',
    setup: plugin => {
      plugin.onLoad({ filter: /\.css$/ }, async ({ path, with: { type } }) => {
        if (type !== 'text') return undefined
        const { outputFiles, metafile } = await esbuild.build({
          absWorkingDir: folder,
          metafile: true,
          entryPoints: [path],
          bundle: true,
          minify: true,
          write: false,
          target: browsers,
          tsconfigRaw: {},
          logLevel: 'silent'
        })
        addInputs(inputs, metafile)
        return { contents: outputFiles[0]?.text ?? '', loader: 'text' }
      })
    }
  }
}

function addInputs(inputs, metafile) {
  for (const input of Object.keys(metafile.inputs)) inputs.add(input)
}

const asBrotli = promisify(brotliCompress)
const asGzip = promisify(gzip)

/** Adds compressed files, those of the previous build if the file is unchanged, and the list of names. */
async function compressAll(dist, files) {
  const outputs = await Promise.all(
    files.map(async ({ name, contents }) => {
      // Fonts are compressed already.
      if (name.endsWith('.woff2')) return [{ name, contents }]
      const isUnchanged = hasContents(join(dist, 'web', name), contents)
      const compressWith = async (extension, compress) => ({
        name: name + extension,
        contents: (isUnchanged && read(join(dist, 'web', name + extension))) || (await compress(contents))
      })
      const gz = compressWith('.gz', bytes => asGzip(bytes, { level: 9 }))
      return [{ name, contents }, await compressWith('.br', bytes => asBrotli(bytes)), await gz]
    })
  )
  const list = { name: 'files.json', contents: JSON.stringify(files.map(({ name }) => name)) }
  return [...outputs.flat(), list].map(({ name, contents }) => ({ name: `web/${name}`, contents }))
}

const swaggerFiles = ['swagger-ui-bundle.js', 'swagger-ui.css'].map(
  name => `node_modules/swagger-ui-dist/${name}`
)

/** Files that the program reads at run time. */
function copies(folder) {
  const own = sourceFiles(folder).filter(
    name => name.startsWith('assets/') || /^src\/.*\.(sql|lua)$/.test(name)
  )
  return [
    { name: 'package.json', contents: renderManifest(folder) },
    ...own.map(name => ({ name, contents: readFileSync(join(folder, name)) })),
    ...swaggerFiles.map(name => ({
      name: `web/${basename(name)}`,
      contents: readFileSync(join(folder, name))
    }))
  ]
}

/** Sorted paths of all source files; empty in a container image. */
function sourceFiles(folder) {
  if (statSync(join(folder, 'src'), { throwIfNoEntry: false }) === undefined) return []
  const files = sources.flatMap(name => {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false })
    if (!stat?.isDirectory()) return stat ? [name] : []
    return readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
  })
  return files.toSorted()
}

function hashTimes(folder, files) {
  const hash = createHash('sha256')
  for (const name of files) {
    const { size, mtimeMs } = statSync(join(folder, name))
    hash.update(`${name} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function hashContents(folder, files) {
  const hash = createHash('sha256')
  for (const name of files) hash.update(`${name}\n`).update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}

const stampName = '.build.json'

function readStamp(dist) {
  try {
    const { times, contents, files } = JSON.parse(readFileSync(join(dist, stampName), 'utf8'))
    const isList = Array.isArray(files) && files.every(name => typeof name === 'string')
    if (typeof times === 'string' && typeof contents === 'string' && isList) return { times, contents, files }
  } catch {
    // There is no build, or an invalid one.
  }
  return { times: '', contents: '', files: [] }
}

function writeStamp(dist, stamp) {
  replaceFile(join(dist, stampName), JSON.stringify(stamp))
}

function replaceFile(path, contents) {
  mkdirSync(dirname(path), { recursive: true })
  const written = `${path}.${process.pid}.new`
  writeFileSync(written, contents)
  renameSync(written, path)
}

/** Removes files of older builds. Recent files may belong to a concurrent build. */
function removeOthers(dist, kept) {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    if (entry.isDirectory() || kept.has(relative(dist, path))) continue
    const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    if (ageMs > 60_000) rmSync(path, { force: true })
  }
}

function hasContents(path, contents) {
  return read(path)?.equals(contents) ?? false
}

function read(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const startedAt = performance.now()
    await buildProgram(root)
    console.error(`cuewire: built dist in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  } catch (error) {
    console.error(`cuewire: the build failed: ${error.message}`)
    process.exitCode = 1
  }
}
