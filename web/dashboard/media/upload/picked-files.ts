import type { PickedFile } from './upload-queue.ts'

/** Files that were chosen in a dialog. Those of a folder have paths that begin with its name. */
export const listPickedFiles = (files: Iterable<File>): PickedFile[] =>
  Array.from(files, file => ({ file, path: file.webkitRelativePath || file.name }))

const maxDepth = 32

/**
 * Returns dropped files, also those in dropped folders. Reads the entries before it waits, because the browser
 * removes them when the event has been handled.
 */
export async function readDroppedFiles(transfer: DataTransfer): Promise<PickedFile[]> {
  const entries = Array.from(transfer.items, item => item.webkitGetAsEntry()).filter(entry => entry !== null)
  const found: PickedFile[] = []
  for (const entry of entries) await collect(entry, '', 0, found)
  return found
}

async function collect(
  entry: FileSystemEntry,
  folder: string,
  depth: number,
  found: PickedFile[]
): Promise<void> {
  const path = folder + entry.name
  if (isFileEntry(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    found.push({ file, path })
  } else if (isFolderEntry(entry) && depth < maxDepth) {
    for (const child of await readFolder(entry)) await collect(child, `${path}/`, depth + 1, found)
  }
}

/** `readEntries` returns at most 100 entries per call. */
async function readFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    const more = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    )
    if (more.length === 0) return entries
    entries.push(...more)
  }
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolderEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory
