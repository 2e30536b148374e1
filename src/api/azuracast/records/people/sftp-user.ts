import { changeRecord, computed } from '../../declare-record.ts'
import { selfLink } from '../../response-schema.ts'

type SftpUserRow = { readonly id: number; readonly publicKeys: string }

export const sftpUser = changeRecord<SftpUserRow>({
  emptyAsNull: ['publicKeys'],
  members: {
    links: computed(selfLink, ({ id }, { stationLink }) => ({ self: stationLink(`sftp-user/${id}`) }))
  }
})
