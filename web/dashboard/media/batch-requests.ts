import { formatCount } from '../ui/text.ts'
import { splitRowKeys } from './library-row.ts'

/** Files per request: each is a change of the station, and progress is shown after each request. */
const filesPerRequest = 100
/** A request of a folder changes all files in it. */
const foldersPerRequest = 1

/** Splits the paths of a selection into requests. Folders come first: their files may be selected as well. */
export function splitBatchPaths(keys: Iterable<string>): { files: string[]; dirs: string[] }[] {
  const { files, dirs } = splitRowKeys(keys)
  const requests: { files: string[]; dirs: string[] }[] = []
  for (let at = 0; at < dirs.length; at += foldersPerRequest)
    requests.push({ files: [], dirs: dirs.slice(at, at + foldersPerRequest) })
  for (let at = 0; at < files.length; at += filesPerRequest)
    requests.push({ files: files.slice(at, at + filesPerRequest), dirs: [] })
  return requests
}

/** What a deletion removes. `songs` is the number of songs in the folders; null if it is not known. */
export function describeDeletion(keys: ReadonlySet<string>, songs: number | null): string {
  const { files, dirs } = splitRowKeys(keys)
  const parts = [
    ...(files.length > 0 ? [formatCount(files.length, 'file')] : []),
    ...(dirs.length > 0
      ? [
          `${formatCount(dirs.length, 'folder')} with everything in ${dirs.length === 1 ? 'it' : 'them'}${songs === null ? '' : ` (${formatCount(songs, 'song')})`}`
        ]
      : [])
  ]
  return `This deletes ${parts.join(' and ')} from the storage, from all playlists and from the queue. It cannot be undone.`
}
