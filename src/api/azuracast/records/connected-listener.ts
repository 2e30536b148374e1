import type { RecordDialect } from '../record-dialect.ts'

type ListenerRow = { readonly location: object }

/** The place of a listener is unknown. AzuraCast describes it by text in any case. */
export const connectedListener: RecordDialect<ListenerRow> = {
  render: rows => rows.map(row => ({ ...row, location: { ...row.location, description: '' } }))
}
