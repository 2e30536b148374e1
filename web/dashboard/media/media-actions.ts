import type { ReactiveControllerHost } from 'lit'

import { ApiRequestError, toApiRequestError } from '../api/api-error.ts'
import { callAction, downloadFile, fileTimeoutMs } from '../api/call-api.ts'
import type { FileRow, Playlist } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import { confirmAction, showNotice, openActionRunner } from '../ui/actions.ts'
import { isolateBidi } from '../ui/text.ts'
import { type BatchAction, describeBatchProgress, runBatchAction } from './batch-actions.ts'
import { describeDeletion } from './batch-requests.ts'
import { firstLibraryQuery, loadLibraryRows } from './library-query.ts'
import { rowNameOf, folderOfPath, splitRowKeys } from './library-row.ts'
import { askForPlaylists, askForText } from './media-dialogs.ts'
import { describeSelection } from './media-toolbars.ts'
import { renamePath } from './rename-path.ts'
import type { MediaSelection } from './selection.ts'

/** More folders are not counted before a deletion. */
const maxCountedFolders = 20

/** Counts the songs in the selected folders; null if there are none, too many or they cannot be read. */
async function countSongs(path: StationPath, keys: ReadonlySet<string>): Promise<number | null> {
  const { dirs } = splitRowKeys(keys)
  if (dirs.length === 0 || dirs.length > maxCountedFolders) return null
  const count = (folder: string) =>
    loadLibraryRows(path, { ...firstLibraryQuery, folder, isFlat: true }, { page: 0, pageSize: 1 })
  try {
    const pages = await Promise.all(dirs.map(count))
    return pages.reduce((sum, { total }) => sum + total, 0)
  } catch {
    return null
  }
}

interface MediaActionsOptions {
  /** The path of the station in the API. */
  readonly path: () => StationPath
  /** The folder that the list shows. */
  readonly folder: () => string
  readonly selection: () => MediaSelection
  /** Called after files were changed. `isGone`: the selected ones are no longer where they were. */
  readonly onChanged: (isGone: boolean) => void
  /** Called before files are deleted. `only` is the only one, null if there are several. */
  readonly onDelete: (only: FileRow | null) => void
}

/** What operators do with files and folders: one action at a time, with its questions and its progress. */
export function openMediaActions(
  host: ReactiveControllerHost & EventTarget,
  { path, folder, selection, onChanged, onDelete }: MediaActionsOptions
) {
  const runner = openActionRunner(host)
  let progress = ''

  function showProgress(text: string): void {
    progress = text
    host.requestUpdate()
  }

  function runOnSelection(action: BatchAction): Promise<void> {
    const { keys } = selection()
    const options = {
      path: path(),
      folder: folder(),
      keys,
      onProgress: (done: number, songs: number) => showProgress(describeBatchProgress(done, keys.size, songs))
    }
    return runner.run(action.do, async () => {
      try {
        return await runBatchAction(action, options)
      } finally {
        showProgress('')
        onChanged(action.do === 'delete' || action.do === 'move')
      }
    })
  }

  /** Runs an action on one file or folder. If it is gone, the list is read again. */
  async function unlessMissing<Result>(
    { path_short: name }: FileRow,
    work: () => Promise<Result>
  ): Promise<Result> {
    try {
      return await work()
    } catch (thrown) {
      const { status, message } = toApiRequestError(thrown)
      if (status !== 404) throw thrown
      onChanged(false)
      throw new ApiRequestError(`“${isolateBidi(name)}”: ${message} The list was loaded again.`, status)
    }
  }

  async function rename(file: string, newPath: string, name: string): Promise<void> {
    const confirmMerge = () =>
      confirmAction({
        title: `Move the songs into “${name}”?`,
        text: 'There is a folder of this name already, possibly because the folder was renamed in part before.',
        verb: 'Move the songs'
      })
    try {
      const isRenamed = await renamePath({
        path: path(),
        file,
        newPath,
        confirmMerge,
        onPart: () => onChanged(false)
      })
      if (isRenamed) showNotice(host, { text: `Renamed to ${name}.`, isError: false })
    } finally {
      onChanged(false)
    }
  }

  return {
    get isBusy() {
      return runner.inFlight !== null
    },
    /** The progress of an action on many files; '' without one. */
    get progress() {
      return progress
    },
    runOnSelection,
    /** Reads the tags of the selection again, after a question. */
    async readTagsAgain(): Promise<void> {
      const text =
        'Titles and other texts, covers and custom fields are taken from the files, also where someone corrected them.'
      if (!(await confirmAction({ title: 'Read tags again?', text, verb: 'Read tags again' }))) return
      await runOnSelection({ do: 'reprocess' })
    },
    async delete(only: FileRow | null): Promise<void> {
      const { keys } = selection()
      if (keys.size === 0) return
      const what =
        only === null
          ? describeSelection(selection(), '').replace(' selected', ' items')
          : `“${isolateBidi(rowNameOf(only))}”`
      const text = describeDeletion(keys, await countSongs(path(), keys))
      if (!(await confirmAction({ title: `Delete ${what}?`, text, verb: 'Delete' }))) return
      onDelete(only)
      await runOnSelection({ do: 'delete' })
    },
    async addToPlaylists(all: readonly Playlist[]): Promise<void> {
      const playlists = await askForPlaylists(all)
      if (playlists !== null) await runOnSelection({ do: 'add', playlists })
    },
    async move(): Promise<void> {
      const directory = await askForText({
        title: 'Move to a folder',
        label: 'Folder',
        verb: 'Move',
        value: folder(),
        help: 'The path of the folder; empty for the top.',
        isOptional: true
      })
      if (directory !== null) await runOnSelection({ do: 'move', directory })
    },
    async rename(row: FileRow): Promise<void> {
      const { path: file, path_short: name } = row
      const parent = folderOfPath(file)
      await askForText({
        title: 'Rename',
        label: 'New name',
        verb: 'Rename',
        value: name,
        async submit(renamed) {
          if (renamed === name) return
          const newPath = parent === '' ? renamed : `${parent}/${renamed}`
          await unlessMissing(row, () => rename(file, newPath, isolateBidi(renamed)))
        }
      })
    },
    async createFolder(): Promise<void> {
      const currentDirectory = folder()
      await askForText({
        title: 'New folder',
        label: 'Name',
        verb: 'Create',
        value: '',
        async submit(name) {
          await callAction('POST', `${path()}/files/mkdir`, { body: { currentDirectory, name } })
          onChanged(false)
          showNotice(host, { text: 'Folder created.', isError: false })
        }
      })
    },
    download(row: FileRow): Promise<void> {
      const query = new URLSearchParams({ file: row.path })
      const name = row.path_short
      return runner.run('download', async () => {
        const file = `${path()}/files/download?${query.toString()}`
        await unlessMissing(row, () => downloadFile(file, name, fileTimeoutMs))
        return ''
      })
    }
  }
}
