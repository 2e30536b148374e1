import { readdir } from 'node:fs/promises'

import { runCommand } from './run-command.ts'

const networkMs = 180_000
const localMs = 60_000
const architectures: Partial<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' }

/**
 * Downloads the packages of a Valkey or Redis server, and of the libraries it needs that are not installed,
 * from the sources that dnf knows on this machine, and unpacks them into `root` in the working folder. Throws
 * an `Error` with the reason when it fails.
 */
export async function unpackByDnf(workshop: string, signal?: AbortSignal): Promise<void> {
  const architecture = architectures[process.arch] ?? process.arch
  const download = async (name: string) => {
    const folders = [
      '--destdir=.',
      `--setopt=cachedir=${workshop}/cache`,
      `--setopt=logdir=${workshop}/cache`
    ]
    const words = ['download', '-q', '-y', '--resolve', ...folders]
    const command = ['dnf', ...words, `${name}.${architecture}`]
    await runCommand(command, { deadlineMs: networkMs, cwd: workshop, signal })
  }
  await download('valkey').catch(async () => download('redis'))
  for (const name of await readdir(workshop)) {
    if (!name.endsWith('.rpm')) continue
    const script = 'rpm2cpio "$1" | (cd root && cpio -idm --quiet)'
    await runCommand(['sh', '-c', script, 'unpack', name], { deadlineMs: localMs, cwd: workshop, signal })
  }
}
