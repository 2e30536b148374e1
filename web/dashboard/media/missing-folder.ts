import type { ReactiveControllerHost } from 'lit'

import { callApi } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'
import { listFolderTrail } from './library-row.ts'

/** A longer list of folders is not complete. */
const maxFolders = 10_000

/** The folder that contains a folder; '' is the top. */
export const parentFolder = (folder: string): string => listFolderTrail(folder).at(-2)?.path ?? ''

/** Whether a folder does not exist. Rejects if that cannot be read. */
async function isMissing(stationPath: StationPath, folder: string): Promise<boolean> {
  const query = new URLSearchParams({ currentDirectory: parentFolder(folder) })
  const { rows } = await callApi('GET', `${stationPath}/files/directories?${query.toString()}`)
  return rows.length < maxFolders && rows.every(({ path }) => path !== folder)
}

interface MissingFolderOptions {
  /** The path of the station in the API. */
  readonly path: () => StationPath
  /** The folder that is shown as empty; null if there is none. Evaluated at every update of the host. */
  readonly folder: () => string | null
}

/** Finds out whether a folder without files does not exist: the API lists both alike. */
export function watchMissingFolder(host: ReactiveControllerHost, { path, folder }: MissingFolderOptions) {
  let checked: string | null = null
  let missing: string | null = null

  async function check(current: string): Promise<void> {
    // Without an answer, the folder is shown as empty.
    const isFolderMissing = await isMissing(path(), current).catch(() => false)
    if (checked !== current) return
    missing = isFolderMissing ? current : null
    host.requestUpdate()
  }

  host.addController({
    hostUpdated() {
      const current = folder()
      if (current === checked) return
      checked = current
      missing = null
      if (current !== null) void check(current)
    }
  })
  return {
    /** Whether the folder that is shown does not exist; false until that is known. */
    get isMissing() {
      return missing !== null && missing === folder()
    }
  }
}
