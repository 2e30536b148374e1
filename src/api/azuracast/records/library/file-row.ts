import { readFolderPlaylists } from '../../../../stores/db/library/playlist-folders.ts'
import { exactly, int64, string } from '../../../core/schemas.ts'
import { maxRows } from '../../../library/file-list.ts'
import { isJsonBody, type OperationDialect, type RecordDialect } from '../../record-dialect.ts'
import { changeSchema, filePlaylists, nothing } from '../../response-schema.ts'
import { file, type FileRecord, renderFilePlaylist } from './file.ts'

type FolderEntry = {
  readonly path: string
  readonly media: FileRecord | null
  readonly dir: { readonly playlists: readonly number[] } | null
  readonly links: { readonly download: string; readonly play: string }
}

/** An entry of a folder: a file, or a folder without `media`. */
export const fileRow: RecordDialect<FolderEntry> = {
  response: changeSchema({
    fields: { dir: { oneOf: [exactly({ playlists: filePlaylists }), nothing] } }
  }),
  async render(rows, context) {
    const media = rows.flatMap(row => row.media ?? [])
    const rendered = ((await file.render?.(media, context)) ?? []).values()
    const folders = rows.filter(({ dir }) => dir !== null && dir.playlists.length > 0).map(({ path }) => path)
    const playlists =
      folders.length === 0
        ? new Map<string, never[]>()
        : await readFolderPlaylists(context.sql, context.stationId, folders)
    return rows.map(row => ({
      ...row,
      media: row.media && rendered.next().value,
      dir: row.dir && { playlists: (playlists.get(row.path) ?? []).map(renderFilePlaylist) }
    }))
  }
}

/** AzuraCast documents the created playlist as `responseRecord`, and answers it as `record`. */
export const changeFiles: OperationDialect = {
  response: changeSchema({
    nullable: ['record'],
    fields: { responseRecord: { anyOf: [exactly({ id: int64, name: string }), nothing] } }
  }),
  reply(value) {
    if (!isJsonBody(value)) return value
    const { record = null } = value
    return { ...value, record, responseRecord: record }
  }
}

/**
 * Without a page size, AzuraCast answers all entries as a list, and with one that is not positive as a page. It does
 * not limit the size.
 */
export const listFolder: OperationDialect = {
  response: ({ properties, ...envelope }) => ({
    oneOf: [
      isJsonBody(properties) && isJsonBody(properties['rows']) ? properties['rows'] : {},
      { properties, ...envelope }
    ]
  }),
  query: query => {
    const size = query.get('rowCount')
    const isTruncated = size === null || /^(0|-\d+)$/.test(size) || Number(size) > maxRows
    if (isTruncated) query.set('rowCount', String(maxRows))
  },
  reply: (value, { request }) => (isJsonBody(value) && !request.query.has('rowCount') ? value['rows'] : value)
}
