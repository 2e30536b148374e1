import { isJsonBody, type OperationDialect, type RecordDialect } from '../record-dialect.ts'
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

/** The most entries of a page. */
const allRows = '500'

/** Without a page size, AzuraCast answers all entries as a list, and with one that is not positive as a page. */
export const listFolder: OperationDialect = {
  query: query => {
    const size = query.get('rowCount')
    if (size === null || /^(0|-\d+)$/.test(size)) query.set('rowCount', allRows)
  },
  reply: (value, { request }) => (isJsonBody(value) && !request.query.has('rowCount') ? value['rows'] : value)
}
