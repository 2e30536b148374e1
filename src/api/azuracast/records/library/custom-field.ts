import { changeRecord, computed } from '../../declare-record.ts'
import { selfLink } from '../../response-schema.ts'

type CustomFieldRow = { readonly id: number; readonly auto_assign: string }

export const customField = changeRecord<CustomFieldRow>({
  emptyAsNull: ['auto_assign'],
  members: { links: computed(selfLink, ({ id }, { link }) => ({ self: link(`admin/custom_field/${id}`) })) }
})
