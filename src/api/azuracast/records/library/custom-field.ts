import { changeSchema, selfLink } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'

type CustomFieldRow = { readonly id: number; readonly auto_assign: string }

export const customField: RecordDialect<CustomFieldRow> = {
  answer: changeSchema({ nullable: ['auto_assign'], fields: { links: selfLink } }),
  computed: ['links'],
  render: (rows, { link }) =>
    rows.map(row => ({
      ...row,
      auto_assign: orNull(row.auto_assign),
      links: { self: link(`admin/custom_field/${row.id}`) }
    }))
}
