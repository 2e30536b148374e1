import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { startGuardedProcess } from '../../src/stores/embedded/guarded-process.ts'
import { findSshd } from './sshd-program.ts'
import { openTempFolder } from './temp-folder.ts'
import { sized } from './tier.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

/** Whether sshd can check passwords and switch users: it can read the system accounts only as root. */
export const isRoot = process.getuid?.() === 0

/** An OpenSSH server for a test, which only serves SFTP. */
export interface Sshd extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** As root a new system account, otherwise the user that runs the tests. */
  readonly username: string
  /** The password of that account; `""` if the tests do not run as root, and only the key works. */
  readonly password: string
  /** OpenSSH format, not encrypted. */
  readonly privateKey: string
  /** The same key, encrypted with `passPhrase`. */
  readonly encryptedKey: string
  readonly passPhrase: string
  /** A valid key that is not authorized. */
  readonly unauthorizedKey: string
  /** An empty folder of the user. */
  readonly folder: string
  /** The pid of the listening process; every session is a child of it. */
  readonly pid: number
}

/** Starts a server on a free port, with host keys, configuration and a user that are removed with it. */
export async function startSshd(): Promise<Sshd> {
  const program = await findSshd()
  const closers: (() => PromiseLike<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    return { ...(await start(program, closers)), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  program: string,
  closers: (() => PromiseLike<unknown>)[]
): Promise<Omit<Sshd, keyof AsyncDisposable>> {
  const temp = await openTempFolder()
  closers.push(temp[Symbol.asyncDispose])
  const account = isRoot ? await addUser(temp.path) : { name: userInfo().username, password: '' }
  if (isRoot) closers.push(async () => removeUser(account.name))
  const folder = join(temp.path, 'files')
  await mkdir(folder)
  if (isRoot) await run('chown', [account.name, folder])

  const passPhrase = randomBytes(8).toString('hex')
  const hostKey = join(temp.path, 'host-key')
  const [plain, encrypted, stranger] = await Promise.all([
    makeKey(join(temp.path, 'plain')),
    makeKey(join(temp.path, 'encrypted'), passPhrase),
    makeKey(join(temp.path, 'stranger')),
    makeKey(hostKey)
  ])
  const authorised = join(temp.path, 'authorised-keys')
  await writeFile(authorised, plain.public + encrypted.public)

  const port = await findFreePort()
  const config = join(temp.path, 'sshd-config')
  await writeFile(config, configOf({ port, hostKey, authorised, name: account.name }))
  // The privilege separation folder of sshd, which the package expects to be created at boot.
  if (isRoot) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  // Since version 9.8 a few wrong passwords block the whole address for a while.
  const lenient = ['-o', 'PerSourcePenalties=no']
  const knowsPenalties = spawnSync(program, ['-t', '-f', config, ...lenient], { timeout: 5_000 }).status === 0
  const words = [program, '-D', '-e', '-f', config, ...(knowsPenalties ? lenient : [])]
  const server = await startGuardedProcess(words, { stopSignal: 'TERM', cwd: temp.path })
  closers.push(server.stop)
  await waitFor(async () => server.hasExited() || accepts(port), { deadlineMs: 10_000, what: 'sshd' })
  if (server.hasExited()) throw new Error(`sshd ended: ${server.lastOutput()}`)
  return {
    host: '127.0.0.1',
    port,
    username: account.name,
    password: account.password,
    privateKey: plain.private,
    encryptedKey: encrypted.private,
    passPhrase,
    unauthorizedKey: stranger.private,
    folder,
    pid: server.pid
  }
}

function configOf(of: { port: number; hostKey: string; authorised: string; name: string }): string {
  return `
ListenAddress 127.0.0.1:${of.port}
HostKey ${of.hostKey}
PidFile none
UsePAM no
StrictModes no
AllowUsers ${of.name}
AuthorizedKeysFile ${of.authorised}
PasswordAuthentication ${isRoot ? 'yes' : 'no'}
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
ForceCommand internal-sftp
MaxStartups 100
`
}

/** The KDF rounds of an encrypted key; 16 are the default, which takes a fifth of a second for each use. */
const passPhraseRounds = sized({ quick: '1', deep: '16' })

/** Creates two files in OpenSSH formats, with its own `ssh-keygen`. */
async function makeKey(file: string, passPhrase = ''): Promise<{ private: string; public: string }> {
  const words = ['-q', '-t', 'ed25519', '-a', passPhraseRounds, '-N', passPhrase, '-f', file]
  await run('ssh-keygen', words, { timeout: 10_000 })
  return { private: await readFile(file, 'utf8'), public: await readFile(`${file}.pub`, 'utf8') }
}

async function addUser(home: string): Promise<{ name: string; password: string }> {
  const name = `cuewire-${randomBytes(4).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  // Another process may have locked the password file for a moment.
  await waitFor(
    async () => {
      const { status, stderr } = spawnSync('useradd', ['--no-create-home', '--home-dir', home, name])
      if (status !== 0) throw new Error(stderr?.toString() ?? 'there is no useradd')
      return true
    },
    { deadlineMs: 10_000, what: 'useradd' }
  )
  const { status, stderr } = spawnSync('chpasswd', { input: `${name}:${password}\n` })
  if (status !== 0) throw new Error(`chpasswd: ${String(stderr)}`)
  return { name, password }
}

async function removeUser(name: string): Promise<void> {
  await waitFor(async () => run('userdel', ['--force', name]), { deadlineMs: 10_000, what: 'userdel' })
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await new Promise<boolean>(resolve => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  return isOpen
}
