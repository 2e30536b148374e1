import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startGuarded } from '../../src/embedded/guarded-process.ts'
import { findFreePort } from '../../src/runtime/ports.ts'
import { findSshd } from './sshd-program.ts'
import { openTempFolder } from './temp-folder.ts'
import { sized } from './tier.ts'
import { waitFor } from './wait.ts'

const run = promisify(execFile)

/** Whether sshd can check passwords and switch users: it reads the system's accounts only as root. */
export const isRoot = process.getuid?.() === 0

/** An OpenSSH server of a test's own, which serves SFTP and nothing else. */
export interface Sshd extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** As root a new account of the system, else the user that runs the tests. */
  readonly username: string
  /** Of that account; `""` where the tests do not run as root and only the key works. */
  readonly password: string
  /** OpenSSH format, not encrypted. */
  readonly privateKey: string
  /** The same right to enter, encrypted with `passPhrase`. */
  readonly encryptedKey: string
  readonly passPhrase: string
  /** A key of the right form that may not enter. */
  readonly strangersKey: string
  /** Belongs to the user; empty. */
  readonly folder: string
  /** Of the process that listens; every session is a child of it. */
  readonly pid: number
}

/**
 * Starts a server on a free port, with host keys, configuration and a user made for it and removed with it.
 */
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
  // The folder that sshd locks its children into; the package leaves it to the start of the system.
  if (isRoot) await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  // Since version 9.8 a few wrong passwords close the door to the whole address for a while.
  const lenient = ['-o', 'PerSourcePenalties=no']
  const knowsPenalties = spawnSync(program, ['-t', '-f', config, ...lenient], { timeout: 5_000 }).status === 0
  const words = [program, '-D', '-e', '-f', config, ...(knowsPenalties ? lenient : [])]
  const server = await startGuarded(words, { stopSignal: 'TERM', cwd: temp.path })
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
    strangersKey: stranger.private,
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

/**
 * Rounds of the hash of a pass phrase; 16 are the default, and each use of the key takes a fifth of a second
 * with them.
 */
const passPhraseRounds = sized({ quick: '1', deep: '16' })

/** Two files in the formats of OpenSSH, by its own program, which comes with its server. */
async function makeKey(file: string, passPhrase = ''): Promise<{ private: string; public: string }> {
  const words = ['-q', '-t', 'ed25519', '-a', passPhraseRounds, '-N', passPhrase, '-f', file]
  await run('ssh-keygen', words, { timeout: 10_000 })
  return { private: await readFile(file, 'utf8'), public: await readFile(`${file}.pub`, 'utf8') }
}

async function addUser(home: string): Promise<{ name: string; password: string }> {
  const name = `cuewire-${randomBytes(4).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  // Somebody else may hold the lock of the password file for a moment.
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
