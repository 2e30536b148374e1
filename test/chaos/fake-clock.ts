import { access, chmod, rename, writeFile } from 'node:fs/promises'

const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1'
]

/** Returns the path of libfaketime, or null if it is not installed. */
export async function findFaketime(): Promise<string | null> {
  for (const path of libraries) {
    const isThere = await access(path).then(
      () => true,
      () => false
    )
    if (isThere) return path
  }
  return null
}

/** The wall clock of a process, which can be set while it runs. */
export interface FakeClock {
  /** Environment variables for the process. */
  readonly variables: Readonly<Record<string, string>>
  /** An offset such as `+3600s` or `+0 x1.0005`; `+0` is the correct time. */
  readonly set: (offset: string) => Promise<void>
}

export const trueTime = '+0'

/** Opens a clock with its file at a path, at the correct time. Without libfaketime it is always correct. */
export async function openFakeClock(library: string | null, file: string): Promise<FakeClock> {
  if (library === null) return { variables: {}, set: async () => {} }
  const set = async (offset: string) => {
    // Renamed into place, because the process may read it at any moment.
    await writeFile(`${file}.new`, `${offset}\n`)
    await chmod(`${file}.new`, 0o644)
    await rename(`${file}.new`, file)
  }
  await set(trueTime)
  return {
    variables: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1'
    },
    set
  }
}
