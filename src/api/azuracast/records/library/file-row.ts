import { maxRows } from '../../../library/file-list.ts'
import { isJsonBody, type OperationDialect, type RecordDialect } from '../../record-dialect.ts'
import { file, type FileRecord } from './file.ts'

type FolderEntry = {
  readonly media: FileRecord | null
  readonly links: { readonly download: string; readonly play: string }
}

/** An entry of a folder: a file, or a folder without `media`. */
export const fileRow: RecordDialect<FolderEntry> = {
  async render(rows, context) {
    const media = rows.flatMap(row => row.media ?? [])
    const rendered = ((await file.render?.(media, context)) ?? []).values()
    return rows.map(row => ({ ...row, media: row.media && rendered.next().value }))
  }
}

/** AzuraCast documents the created playlist as `responseRecord`, and answers it as `record`. */
export const changeFiles: OperationDialect = {
  reply(value) {
    if (!isJsonBody(value)) return value
    const { record = null } = value
    return { ...value, record, responseRecord: record }
  }
}

/**
 * Without a page size, AzuraCast answers all entries as a list, and with one that is not positive as a page. It does not limit
 * the size.
 */
export const listFolder: OperationDialect = {
  query: query => {
    const size = query.get('rowCount')
    const isCut = size === null || /^(0|-\d+)$/.test(size) || Number(size) > maxRows
    if (isCut) query.set('rowCount', String(maxRows))
  },
  reply: (value, { request }) => (isJsonBody(value) && !request.query.has('rowCount') ? value['rows'] : value)
}
