import { listUnicodeForms } from '../../platform/text/unicode-names.ts'

export interface StoredFile {
  readonly sizeBytes: number
  readonly modifiedMs: number
}

/** The files of a storage location. Paths are relative to its folder and normalized. */
export interface FileStore {
  /**
   * Copies a local file to a path, whole or not at all, in place of a file that is there. Repeating it with the same
   * `token` is safe. The file may be the source itself under a second name, unless `keepsSource`: then nothing that is
   * done to one of them concerns the other, and a local copy has the time of the source.
   */
  readonly put: (
    source: string,
    path: string,
    token: string,
    options?: { readonly keepsSource?: boolean }
  ) => Promise<StoredFile>
  /** Null if there is no such file. */
  readonly stat: (path: string) => Promise<StoredFile | null>
  /** Reads at most `length` bytes from an offset on. */
  readonly read: (path: string, offset: number, length: number) => Promise<Uint8Array>
  /** Does nothing if there is no such file. */
  readonly remove: (path: string) => Promise<void>
  /** Throws a `FileExistsError` if a file is in the way. */
  readonly move: (from: string, to: string) => Promise<void>
  readonly makeFolder: (path: string) => Promise<void>
  /** Removes an empty folder. Does nothing if it is missing or not empty. */
  readonly removeFolder: (path: string) => Promise<void>
}

/** A file or folder is where another one should be stored. */
export class FileExistsError extends Error {}

/**
 * Finds a file whose stored name may differ in Unicode composition. The exact name comes first. Null if there is none;
 * `path` is as stored.
 */
export async function findStoredFile(
  files: Pick<FileStore, 'stat'>,
  path: string
): Promise<(StoredFile & { readonly path: string }) | null> {
  for (const form of listUnicodeForms(path)) {
    const stored = await files.stat(form)
    if (stored) return { ...stored, path: form }
  }
  return null
}
