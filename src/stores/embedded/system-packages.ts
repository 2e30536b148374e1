import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { minRedisMajor, redisNames } from './redis-binary.ts'
import { isInPath, findStderrProblem, runCommand } from './run-command.ts'

const networkMs = 180_000
const localMs = 60_000

/**
 * Downloads the packages of a Redis or Valkey server and its libraries from the package sources of the system
 * and unpacks them into `root` in the work folder. Needs no privileges and writes nowhere else. Throws an
 * `Error` with the reason.
 */
export type UnpackPackages = (workFolder: string, signal?: AbortSignal) => Promise<void>

/** Returns how to unpack packages of this system; undefined without a supported package manager. */
export async function choosePackageUnpacker(): Promise<UnpackPackages | undefined> {
  for (const { programs, unpack } of unpackers) {
    const found = await Promise.all(programs.map(isInPath))
    if (found.every(Boolean)) return unpack
  }
  return undefined
}

const unpackers: readonly { programs: readonly string[]; unpack: UnpackPackages }[] = [
  { programs: ['apt-get', 'apt-cache', 'dpkg-deb'], unpack: unpackByApt },
  { programs: ['dnf', 'rpm2cpio', 'cpio'], unpack: unpackByDnf }
]

/**
 * Moves the state of apt from /var to the work folder, with no package counted as installed, so that all
 * dependencies are downloaded. Hooks of other programs are disabled, because they would write elsewhere.
 */
const aptConfig = `
Dir::State::lists "./lists";
Dir::State::status "/dev/null";
Dir::Cache "./cache";
Dir::Cache::pkgcache "pkgcache.bin";
Debug::NoLocking "true";
APT::Sandbox::User "root";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::CNF::DefaultEnabled "false";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`

async function unpackByApt(workFolder: string, signal?: AbortSignal): Promise<void> {
  const run = async (command: readonly string[], timeoutMs: number) =>
    runCommand(command, { timeoutMs, cwd: workFolder, signal })
  const apt = async (program: string, args: readonly string[], timeoutMs: number) =>
    run([program, ...args, '--config-file=./apt.conf'], timeoutMs)

  for (const name of ['lists/partial', 'cache/archives/partial']) {
    await mkdir(join(workFolder, name), { recursive: true })
  }
  await writeFile(join(workFolder, 'apt.conf'), aptConfig)
  // If one of several sources fails, the others may be enough.
  const problem = await apt('apt-get', ['update', '-q'], networkMs).then(
    ({ stderr }) => findStderrProblem(stderr),
    (error: Error) => error.message
  )
  signal?.throwIfAborted()
  const policy = await apt('apt-cache', ['policy', ...redisNames], localMs)
  const server = redisNames.find(name => (parseCandidateMajor(policy.stdout, name) ?? 0) >= minRedisMajor)
  if (server === undefined) throw new Error(problem || `no package is of version ${minRedisMajor} or later`)
  const depends = await apt('apt-cache', ['depends', '--important', '--recurse', server], localMs)
  await apt('apt-get', ['download', '-q', ...parsePackagesToUnpack(depends.stdout, server)], networkMs)
  for (const name of await readdir(workFolder)) {
    if (name.endsWith('.deb')) await run(['dpkg-deb', '--extract', name, 'root'], localMs)
  }
}

/** The major version of a package in the output of `apt-cache policy`; undefined if there is none. */
export function parseCandidateMajor(policy: string, name: string): number | undefined {
  const lines = policy.split('\n')
  const start = lines.indexOf(`${name}:`)
  const candidate = start < 0 ? undefined : lines[start + 2]
  // An epoch may come first: 5:7.0.15-1.
  const major = /^ {2}Candidate: (?:\d+:)?(\d+)\./.exec(candidate ?? '')?.[1]
  return major === undefined ? undefined : Number(major)
}

/**
 * Returns the packages to unpack from the output of `apt-cache depends --important --recurse`: the server and
 * its libraries. The C library of the system is used, because it must match the loader.
 */
export function parsePackagesToUnpack(depends: string, server: string): string[] {
  const dependencies = parseDepends(depends)
  const chosen = new Set([server])
  for (const name of chosen) {
    for (const each of dependencies.get(name) ?? []) {
      if (/^(redis|valkey|lib|lua-|zlib)/.test(each) && each !== 'libc6') chosen.add(each)
    }
  }
  return [...chosen]
}

/** Of alternatives, which are marked by `|` on all but the last, takes the first. */
function parseDepends(text: string): Map<string, string[]> {
  const all = new Map<string, string[]>()
  let current: string[] = []
  let isAlternative = false
  for (const line of text.split('\n')) {
    const [, name] = /^([^\s<]\S*)$/.exec(line) ?? []
    if (name !== undefined) all.set(name, (current = []))
    const [, more, dependency] = /^ ([ |])(?:Pre)?Depends: (\S+)$/.exec(line) ?? []
    if (dependency === undefined) continue
    if (!isAlternative) current.push(dependency)
    isAlternative = more === '|'
  }
  return all
}

const dnfArchitectures: Partial<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/** Libraries that are installed are not downloaded. */
async function unpackByDnf(workFolder: string, signal?: AbortSignal): Promise<void> {
  const run = async (command: readonly string[], timeoutMs: number) =>
    runCommand(command, { timeoutMs, cwd: workFolder, signal })
  const folders = ['cachedir', 'logdir'].map(name => `--setopt=${name}=${workFolder}/cache`)
  const options = ['-q', '-y', '--resolve', '--destdir=.', ...folders]
  const architecture = dnfArchitectures[process.arch] ?? process.arch
  const download = async (name: string) =>
    run(['dnf', 'download', ...options, `${name}.${architecture}`], networkMs)

  await download('valkey').catch(async () => download('redis'))
  const script = 'rpm2cpio "$1" | (cd root && cpio -idm --quiet)'
  for (const name of await readdir(workFolder)) {
    if (name.endsWith('.rpm')) await run(['sh', '-c', script, 'unpack', name], localMs)
  }
}
