import { declareChangedRecord, computedMember } from '../../declare-record.ts'
import { selfLinkSchema } from '../../response-schema.ts'

type SftpUserRow = { readonly id: number; readonly publicKeys: string }

export const sftpUserDialect = declareChangedRecord<SftpUserRow>({
  emptyAsNull: ['publicKeys'],
  members: {
    links: computedMember(selfLinkSchema, ({ id }, { stationLink }) => ({
      self: stationLink(`sftp-user/${id}`)
    }))
  }
})
