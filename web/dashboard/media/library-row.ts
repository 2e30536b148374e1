import type { FileRow } from '../api/responses.ts'

/** Identifies a row in a selection. */
export const rowKeyOf = ({ type, path }: FileRow) => `${type}:${path}`

/** The paths of a selection. */
export function splitRowKeys(keys: Iterable<string>): { files: string[]; dirs: string[] } {
  const all = [...keys]
  const pathsOf = (prefix: string) =>
    all.filter(key => key.startsWith(prefix)).map(key => key.slice(prefix.length))
  return { files: pathsOf('media:'), dirs: pathsOf('directory:') }
}

/** The title of a song, or the name of the file or folder. */
export const rowNameOf = ({ media, path_short: name }: FileRow) => media?.title || name

/** The folders on the way to a folder, with their paths. */
export function listFolderTrail(folder: string): { name: string; path: string }[] {
  // The first part of an absolute path or a URL is one folder.
  const [first = ''] = /^(?:https?:\/\/|\/)?[^/]*/.exec(folder) ?? []
  if (first === '') return []
  const names = folder
    .slice(first.length)
    .split('/')
    .filter(name => name !== '')
  return [first, ...names].map((name, index) => ({ name, path: [first, ...names.slice(0, index)].join('/') }))
}

/** The folder that contains a path; '' is the top. */
export const folderOfPath = (path: string) => path.split('/').slice(0, -1).join('/')
