import { declareChangedRecord, computedMember } from '../../declare-record.ts'
import { selfLinkSchema } from '../../response-schema.ts'

type CustomFieldRow = { readonly id: number; readonly auto_assign: string }

export const customFieldDialect = declareChangedRecord<CustomFieldRow>({
  emptyAsNull: ['auto_assign'],
  members: {
    links: computedMember(selfLinkSchema, ({ id }, { link }) => ({ self: link(`admin/custom_field/${id}`) }))
  }
})
