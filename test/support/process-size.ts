import { readdir, readFile } from 'node:fs/promises'

/** Whether this system has `/proc`: for `test.runIf`. */
export const canMeasure = process.platform === 'linux'

/** The memory and the number of descriptors of a process of this machine. Linux only. */
export async function sizeOf(pid: number): Promise<{ rssMiB: number; descriptors: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length
  return { rssMiB: Number(kibibytes) / 1_024, descriptors }
}
