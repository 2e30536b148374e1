import { readFolderPlaylists } from '../../../../stores/db/library/playlist-folders.ts'
import { exactObject, int64, string } from '../../../core/schemas.ts'
import { maxFolderRows } from '../../../library/file-list.ts'
import { isJsonBody, type OperationDialect, type RecordDialect } from '../../record-dialect.ts'
import { schemaChanger, filePlaylistsSchema, nullSchema } from '../../response-schema.ts'
import { fileDialect, type FileRecord, renderFilePlaylist } from './file.ts'

type FolderEntry = {
  readonly path: string
  readonly media: FileRecord | null
  readonly dir: { readonly playlists: readonly number[] } | null
  readonly links: { readonly download: string; readonly play: string }
}

/** An entry of a folder: a file, or a folder without `media`. */
export const fileRowDialect: RecordDialect<FolderEntry> = {
  response: schemaChanger({
    fields: { dir: { oneOf: [exactObject({ playlists: filePlaylistsSchema }), nullSchema] } }
  }),
  async render(rows, context) {
    const media = rows.flatMap(row => row.media ?? [])
    const rendered = ((await fileDialect.render?.(media, context)) ?? []).values()
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
export const changeFilesDialect: OperationDialect = {
  response: schemaChanger({
    nullable: ['record'],
    fields: { responseRecord: { anyOf: [exactObject({ id: int64, name: string }), nullSchema] } }
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
export const listFolderDialect: OperationDialect = {
  response: ({ properties, ...envelope }) => ({
    oneOf: [
      isJsonBody(properties) && isJsonBody(properties['rows']) ? properties['rows'] : {},
      { properties, ...envelope }
    ]
  }),
  query: query => {
    const size = query.get('rowCount')
    const isTruncated = size === null || /^(0|-\d+)$/.test(size) || Number(size) > maxFolderRows
    if (isTruncated) query.set('rowCount', String(maxFolderRows))
  },
  reply: (value, { request }) => (isJsonBody(value) && !request.query.has('rowCount') ? value['rows'] : value)
}
