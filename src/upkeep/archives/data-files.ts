import { createWriteStream } from 'node:fs'
import { lstat, mkdir, opendir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { isInsideRoots, resolveInsideRoots } from '../../platform/runtime/contained-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { TarFile } from '../../platform/runtime/tar-files.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { BackupHeader } from './archive-contents.ts'

/*
 * Files in a backup: `data/stations/...` is relative to DATA_DIR, `storage/ID/...` to the folder of a local storage
 * location, and `absolute/...` are songs that were imported from elsewhere.
 */

const fileFolders = ['data', 'storage', 'absolute']

const maxPathBytes = 4_000
const maxNameBytes = 255

/**
 * What is wrong with the path of a file in an archive; null for one that a backup, or the export of a station, may
 * contain.
 */
export function findArchivePathProblem(path: string, kind: BackupHeader['kind']): string | null {
  const [folder = '', content = '', ...rest] = path.split('/')
  const isKnown =
    kind === 'installation'
      ? fileFolders.includes(folder) && content !== ''
      : folder === 'data' &&
        (content === 'media' ? rest.length > 0 : content === 'config' && rest.length === 1)
  if (!isKnown) return 'does not belong to it'
  const names = path.split('/')
  const isUsable =
    Buffer.byteLength(path) <= maxPathBytes &&
    !path.includes('\0') &&
    names.every(name => !['', '.', '..'].includes(name) && Buffer.byteLength(name) <= maxNameBytes)
  return isUsable ? null : 'is no path of a file'
}

/** A file to back up: its path in the archive and on this machine. */
export interface FileToBackUp {
  readonly path: string
  readonly file: string
}

/**
 * Finds the files of stations in DATA_DIR: fallback tracks and intros, and with `media` also songs and recordings,
 * those of local storage locations, and imported songs. Symbolic links are not followed.
 */
export async function* findDataFiles(
  sql: Sql,
  dataDir: string,
  { media }: { readonly media: boolean }
): AsyncGenerator<FileToBackUp> {
  const stations = resolve(dataDir, 'stations')
  for await (const file of walk(stations)) {
    const path = relative(resolve(dataDir), file)
    if (media || path.split(sep)[2] === 'config') yield { path: `data/${path}`, file }
  }
  if (!media) return
  const roots = [stations]
  const locations = await sql<{ id: number; path: string }[]>`
    select id, path from storage_locations where adapter = 'local' and path <> '' order by id`
  for (const location of locations) {
    const folder = resolve(location.path)
    if (isInsideRoots(folder, roots)) continue
    for await (const file of walk(folder))
      if (!isInsideRoots(file, roots))
        yield { path: `storage/${location.id}/${relative(folder, file)}`, file }
    roots.push(folder)
  }
  for await (const file of importedFiles(sql))
    if (!isInsideRoots(file, roots)) yield { path: `absolute${file}`, file }
}

/** Finds the files in a folder and below, with their paths in the archive below `prefix`. Null has none. */
export async function* findFilesBelow(folder: string | null, prefix: string): AsyncGenerator<FileToBackUp> {
  if (folder === null) return
  const root = resolve(folder)
  for await (const file of walk(root)) yield { path: `${prefix}/${relative(root, file)}`, file }
}

async function* walk(folder: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) yield* walk(path)
      else if (entry.isFile()) yield path
    }
  } catch (error) {
    if (!['ENOENT', 'EACCES'].includes(errorCodeOf(error))) throw error
  }
}

const atOnce = 1_000

async function* importedFiles(sql: Sql): AsyncGenerator<string> {
  let after = ''
  for (;;) {
    const rows = await sql<{ path: string }[]>`
      select distinct path from media where path like '/%' and path > ${after} order by path limit ${atOnce}`
    for (const { path } of rows) yield path
    const last = rows.at(-1)
    if (last === undefined || rows.length < atOnce) return
    after = last.path
  }
}

export interface RestoredFiles {
  readonly restored: number
  /** Files outside of DATA_DIR that were already there. */
  readonly kept: number
  /** Files whose folder is not one of STORAGE_ROOTS. */
  readonly refused: readonly string[]
}

/**
 * Writes files of a backup to their places. Those outside of DATA_DIR never replace a file, and stay inside `roots`.
 */
export async function openFileRestorer(sql: Sql, dataDir: string, roots: readonly string[]) {
  const rows = await sql<{ id: number; path: string }[]>`
    select id, path from storage_locations where adapter = 'local' and path <> ''`
  const locations = new Map(rows.map(({ id, path }) => [String(id), path]))
  const refused: string[] = []
  let restored = 0
  let kept = 0
  return {
    async write({ path, content }: Pick<TarFile, 'path' | 'content'>): Promise<void> {
      const target = resolveTarget(path, dataDir, locations)
      if (target === null) {
        refused.push(path)
      } else if (target.mayReplace) {
        await writeFile(target.file, content)
        restored += 1
      } else if ((await resolveInsideRoots(target.file, roots)) === null) {
        refused.push(target.file)
      } else if (await exists(target.file)) {
        kept += 1
      } else {
        await writeFile(target.file, content)
        restored += 1
      }
    },
    result: (): RestoredFiles => ({ restored, kept, refused })
  }
}

/** Files that are written to the folder of a new station. */
export type WrittenFiles = ReturnType<typeof openStationFileWriter>

/** Writes files below the folder of a station that is being imported. */
export function openStationFileWriter(dataDir: string, stationId: number) {
  const folder = resolve(dataDir, 'stations', String(stationId))
  const written: string[] = []
  let wasThere: boolean | null = null
  return {
    count: () => written.length,
    /** `path` is one that `findArchivePathProblem` accepts, without its first part. */
    async write(path: string, content: AsyncIterable<Buffer>): Promise<void> {
      wasThere ??= await exists(folder)
      const file = resolve(folder, path)
      await writeFile(file, content)
      written.push(file)
    },
    /** Removes what was written. */
    async remove(): Promise<void> {
      if (wasThere === false) await rm(folder, { recursive: true, force: true })
      else for (const file of written) await rm(file, { force: true })
    }
  }
}

function resolveTarget(path: string, dataDir: string, locations: ReadonlyMap<string, string>) {
  const [kind, ...parts] = path.split('/')
  if (parts.length === 0 || parts.some(part => part === '' || part === '.' || part === '..')) return null
  if (kind === 'data')
    return parts[0] === 'stations' ? { file: resolve(dataDir, ...parts), mayReplace: true } : null
  if (kind === 'absolute') return { file: resolve('/', ...parts), mayReplace: false }
  const [id = '', ...inner] = parts
  const folder = locations.get(id)
  if (kind !== 'storage' || folder === undefined || inner.length === 0) return null
  return { file: resolve(folder, ...inner), mayReplace: false }
}

const exists = (file: string) =>
  lstat(file).then(
    () => true,
    () => false
  )

async function writeFile(file: string, content: AsyncIterable<Buffer>): Promise<void> {
  const partial = `${file}.restoring`
  try {
    await mkdir(dirname(file), { recursive: true })
    await pipeline(Readable.from(content), createWriteStream(partial))
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {})
    throw new OperatorError(`${file} cannot be written (${errorCodeOf(error) || String(error)})`, {
      cause: error
    })
  }
}
