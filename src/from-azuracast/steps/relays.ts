import { insertRows } from '../insert-rows.ts'
import { type Migration, takeTable } from '../migration.ts'

/** Takes the servers of others that relay mounts. One whose address Cuewire has is that one. */
export async function takeRelays(migration: Migration): Promise<void> {
  const { ids } = migration
  await takeTable(migration, {
    table: 'relays',
    kind: 'relay',
    title: 'relays',
    convert: (row, read, sourceId) => ({
      sourceId,
      base_url: read.text(row, 'base_url') ?? '',
      name: (read.text(row, 'name') || 'Relay').slice(0, 100),
      is_visible_on_public_pages: read.flag(row, 'is_visible_on_public_pages', true),
      created_at: new Date(read.time(row, 'created_at') ?? Date.now()).toISOString(),
      updated_at: new Date(read.time(row, 'updated_at') ?? Date.now()).toISOString()
    }),
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
