import { orNull, type RecordDialect } from '../../record-dialect.ts'

type SftpUserRow = { readonly id: number; readonly publicKeys: string }

export const sftpUser: RecordDialect<SftpUserRow> = {
  computed: ['links'],
  render: (rows, { stationLink }) =>
    rows.map(row => ({
      ...row,
      publicKeys: orNull(row.publicKeys),
      links: { self: stationLink(`sftp-user/${row.id}`) }
    }))
}
