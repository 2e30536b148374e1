import { orNull, type RecordDialect } from '../../record-dialect.ts'

type CustomFieldRow = { readonly id: number; readonly auto_assign: string }

export const customField: RecordDialect<CustomFieldRow> = {
  computed: ['links'],
  render: (rows, { link }) =>
    rows.map(row => ({
      ...row,
      auto_assign: orNull(row.auto_assign),
      links: { self: link(`admin/custom_field/${row.id}`) }
    }))
}
