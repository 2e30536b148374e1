import { changeSchema, selfLink } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'

type SftpUserRow = { readonly id: number; readonly publicKeys: string }

export const sftpUser: RecordDialect<SftpUserRow> = {
  answer: changeSchema({ nullable: ['publicKeys'], fields: { links: selfLink } }),
  computed: ['links'],
  render: (rows, { stationLink }) =>
    rows.map(row => ({
      ...row,
      publicKeys: orNull(row.publicKeys),
      links: { self: stationLink(`sftp-user/${row.id}`) }
    }))
}
