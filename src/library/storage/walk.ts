import { throwIfStorageAborted } from './storage-fault.ts'

interface TreeUsage {
  /** The sum of file sizes, not of allocated blocks. */
  readonly usedBytes: bigint
  readonly files: number
  /** Folders and files that could not be read, so `usedBytes` is too low. */
  readonly skipped: number
}

/** What a storage location contains. */
export interface StorageUsage extends TreeUsage {
  /** Free space of the volume for this user; null if unknown or not applicable. */
  readonly freeBytes: bigint | null
}

/** The files and subfolders of one folder. */
export interface FolderContent<Folder> extends TreeUsage {
  readonly folders: readonly Folder[]
}

const maxFolders = 10_000_000

/** Sums up a tree of up to ten million folders. Rejects with the first error of `read`, or when aborted. */
export async function sumFolderTree<Folder>(
  top: Folder,
  read: (folder: Folder) => Promise<FolderContent<Folder>>,
  concurrency: number,
  signal: AbortSignal
): Promise<TreeUsage> {
  const total = { usedBytes: 0n, files: 0, skipped: 0 }
  const pending = [top]
  const running = new Set<Promise<void>>()
  let found = 1

  const visit = async (folder: Folder): Promise<void> => {
    const content = await read(folder)
    total.usedBytes += content.usedBytes
    total.files += content.files
    total.skipped += content.skipped
    for (const inner of content.folders) {
      if (found < maxFolders) pending.push(inner)
      else total.skipped += 1
      found += 1
    }
  }

  while (pending.length > 0 || running.size > 0) {
    throwIfStorageAborted(signal)
    while (running.size < concurrency) {
      const next = pending.pop()
      if (next === undefined) break
      const visiting = visit(next).finally(() => running.delete(visiting))
      running.add(visiting)
    }
    await Promise.race(running)
  }
  return total
}
