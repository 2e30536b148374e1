import { customFieldsResource } from '../../../api/library/custom-fields.ts'
import { toValidRow } from '../accept-record.ts'
import { insertRows } from '../insert-rows.ts'
import { type AzuracastMigration, migrateSourceTable } from '../migration.ts'
import { scalarToText } from '../source.ts'

/** Takes custom fields. One whose short name Cuewire has is that one. */
export async function migrateCustomFields(migration: AzuracastMigration): Promise<void> {
  const { report, secrets, ids } = migration
  await migrateSourceTable(migration, {
    table: 'custom_field',
    kind: 'custom field',
    title: 'custom fields',
    convert(row, read, sourceId) {
      const name = read.text(row, 'name') ?? ''
      const body = {
        name,
        short_name: read.text(row, 'short_name') || `custom_field_${sourceId}`,
        auto_assign: read.text(row, 'auto_assign') ?? ''
      }
      const accepted = toValidRow(customFieldsResource, body, secrets, problem =>
        report.leave('settings of custom fields that are not accepted', `${name}: ${problem}`)
      )
      if (!accepted) return null
      // Its own name would be empty.
      const shortName =
        accepted['short_name'] === '' ? `custom_field_${sourceId}` : scalarToText(accepted['short_name'])
      return { sourceId, row: { ...accepted, short_name: shortName }, shortName }
    },
    async write(tx, fields) {
      for (const { sourceId, row, shortName } of fields) {
        const [known] = await tx<{ id: number }[]>`
          select id from custom_fields where lower(short_name) = lower(${shortName})`
        if (known) {
          if (known.id !== sourceId) await ids.equate(tx, 'custom field', sourceId, known.id)
          continue
        }
        const [id] = await ids.assign(tx, 'custom field', [{ id: sourceId }])
        await insertRows(tx, 'custom_fields', [{ id, ...row }])
      }
    }
  })
}
