import { isWebAddress } from '../../../model/fields/field.ts'
import { cleanLine } from '../../../model/songs/song.ts'
import { insertRows } from '../insert-rows.ts'
import { type AzuracastMigration, migrateSourceTable } from '../migration.ts'
import { readUsableTime } from '../usable-values.ts'

/** Takes the servers of others that relay mounts. One whose address Cuewire has is that one. */
export async function migrateRelays(migration: AzuracastMigration): Promise<void> {
  const { ids, report } = migration
  await migrateSourceTable(migration, {
    table: 'relays',
    kind: 'relay',
    title: 'relays',
    convert(row, read, sourceId) {
      const address = read.text(row, 'base_url') ?? ''
      if (!isWebAddress(address)) {
        report.leave('relays whose address is not accepted', `relay ${sourceId}: ${address}`)
        return null
      }
      const onProblem = (problem: string) =>
        report.leave('times of relays that are not usable', `${address}: ${problem}`)
      const time = (column: string) =>
        new Date(readUsableTime(read, row, column, onProblem) ?? Date.now()).toISOString()
      return {
        sourceId,
        base_url: address,
        name: cleanLine(read.text(row, 'name') || 'Relay', 100),
        is_visible_on_public_pages: read.flag(row, 'is_visible_on_public_pages', true),
        created_at: time('created_at'),
        updated_at: time('updated_at')
      }
    },
    async write(tx, relays) {
      for (const { sourceId, ...row } of relays) {
        const [known] = await tx<{ id: number }[]>`select id from relays where base_url = ${row.base_url}`
        if (known) {
          if (known.id !== sourceId) await ids.equate(tx, 'relay', sourceId, known.id)
          continue
        }
        const [id] = await ids.assign(tx, 'relay', [{ id: sourceId }])
        await insertRows(tx, 'relays', [{ id, ...row }])
      }
    }
  })
}
