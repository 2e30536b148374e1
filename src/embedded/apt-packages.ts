import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { oldestMajor, redisNames } from './redis-binary.ts'
import { problemIn, runCommand } from './run-command.ts'

const networkMs = 180_000
const localMs = 60_000

/**
 * Everything apt would keep under /var is in the working folder, and nothing counts as installed, so that
 * what is downloaded is complete by itself. The hooks of other programs would write elsewhere.
 */
const config = `
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

/**
 * Downloads the packages of a Redis or Valkey server and of the libraries it needs from the sources that apt
 * knows on this machine, verified by apt, and unpacks them into `root` in the working folder. Any user may do
 * this. Throws an `Error` with the reason when it fails.
 */
export async function unpackByApt(workshop: string, signal?: AbortSignal): Promise<void> {
  const run = async (command: readonly string[], deadlineMs: number) =>
    runCommand(command, { deadlineMs, cwd: workshop, signal })
  const apt = async (program: string, words: readonly string[], deadlineMs: number) =>
    run([program, ...words, '--config-file=./apt.conf'], deadlineMs)

  for (const name of ['lists/partial', 'cache/archives/partial']) {
    await mkdir(join(workshop, name), { recursive: true })
  }
  await writeFile(join(workshop, 'apt.conf'), config)
  // One source of several that fails need not matter.
  const problem = await apt('apt-get', ['update', '-q'], networkMs).then(
    ({ stderr }) => problemIn(stderr),
    (error: Error) => error.message
  )
  signal?.throwIfAborted()
  const policy = await apt('apt-cache', ['policy', ...redisNames], localMs)
  const server = redisNames.find(name => (candidateMajor(policy.stdout, name) ?? 0) >= oldestMajor)
  if (server === undefined) {
    throw new Error(problem || `no package is of version ${oldestMajor} or later`)
  }
  const depends = await apt('apt-cache', ['depends', '--important', '--recurse', server], localMs)
  await apt('apt-get', ['download', '-q', ...packagesToUnpack(depends.stdout, server)], networkMs)
  for (const name of await readdir(workshop)) {
    if (name.endsWith('.deb')) await run(['dpkg-deb', '--extract', name, 'root'], localMs)
  }
}

/** The major version that `apt-cache policy` names for a package; `undefined` if there is none. */
export function candidateMajor(policy: string, name: string): number | undefined {
  const lines = policy.split('\n')
  const start = lines.indexOf(`${name}:`)
  const candidate = start < 0 ? undefined : lines[start + 2]
  // An epoch may come first: 5:7.0.15-1.
  const major = /^ {2}Candidate: (?:\d+:)?(\d+)\./.exec(candidate ?? '')?.[1]
  return major === undefined ? undefined : Number(major)
}

/**
 * The packages to unpack, by what `apt-cache depends --important --recurse` writes: the server, its parts and
 * the libraries below them. The C library is the system's, since the loader must match it.
 */
export function packagesToUnpack(depends: string, server: string): string[] {
  const dependencies = parseDepends(depends)
  const chosen = new Set([server])
  for (const name of chosen) {
    for (const each of dependencies.get(name) ?? []) {
      if (/^(redis|valkey|lib|lua-|zlib)/.test(each) && each !== 'libc6') chosen.add(each)
    }
  }
  return [...chosen]
}

/** Of alternatives, which are marked by `|` on all but the last, the first. */
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
