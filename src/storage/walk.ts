import { throwIfAborted } from './abort.ts'

/** What one folder holds: its own files, and the folders in it. */
export interface FolderContent<Folder> {
  readonly usedBytes: bigint
  readonly files: number
  readonly folders: readonly Folder[]
  readonly skipped: number
}

/** The sum over a tree. */
export interface TreeContent {
  readonly usedBytes: bigint
  readonly files: number
  readonly skipped: number
}

const maxFolders = 10_000_000

/**
 * Sums up a tree of folders, `concurrency` of them at a time. Rejects with the first thing `read` throws, and once
 * the signal is aborted begins no further folder. A tree without end counts as skipped from ten million folders on.
 */
export async function walk<Folder>(
  top: Folder,
  read: (folder: Folder) => Promise<FolderContent<Folder>>,
  concurrency: number,
  signal: AbortSignal
): Promise<TreeContent> {
  const pending = [top]
  const running = new Set<Promise<void>>()
  let found = 1
  let usedBytes = 0n
  let files = 0
  let skipped = 0

  const visit = async (folder: Folder): Promise<void> => {
    const content = await read(folder)
    usedBytes += content.usedBytes
    files += content.files
    skipped += content.skipped
    for (const inner of content.folders) {
      if (found < maxFolders) pending.push(inner)
      else skipped += 1
      found += 1
    }
  }

  while (pending.length > 0 || running.size > 0) {
    throwIfAborted(signal)
    while (running.size < concurrency) {
      const next = pending.pop()
      if (next === undefined) break
      const visiting = visit(next).finally(() => running.delete(visiting))
      running.add(visiting)
    }
    await Promise.race(running)
  }
  return { usedBytes, files, skipped }
}
