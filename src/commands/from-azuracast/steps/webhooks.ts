import { triggerNames } from '../../../model/station/triggers.ts'
import { findMissingHookSettings, mergeHookConfig } from '../../../webhooks/hook-config-change.ts'
import { addGeneratedSettings } from '../../../webhooks/hook-config.ts'
import { hookTypeNames, getHookType } from '../../../webhooks/types/hook-types.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { type AzuracastMigration, migrateSourceTable } from '../migration.ts'

interface MappedHook {
  readonly sourceId: number
  readonly row: RowToInsert
}

/** Takes web hooks. One whose config is not complete is disabled. */
export async function migrateWebhooks(migration: AzuracastMigration): Promise<void> {
  const { ids, report, stations } = migration
  await migrateSourceTable<MappedHook>(migration, {
    table: 'station_webhooks',
    kind: 'webhook',
    title: 'web hooks',
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const typeName = read.text(row, 'type') ?? ''
      const hookName = read.text(row, 'name') ?? ''
      const label = `${station.name}: ${hookName || typeName}`
      if (!hookTypeNames.includes(typeName)) {
        report.leave('web hooks of a type that Cuewire does not have', `${label} (${typeName})`)
        return null
      }
      const { config, problems } = mapConfig(migration, typeName, read.json(row, 'config'))
      for (const problem of problems)
        report.leave('settings of web hooks that are not accepted', `${label}: ${problem}`)
      const type = getHookType(typeName)
      const triggers = read.list(row, 'triggers').map(String)
      const unknown = triggers.filter(name => !type.triggers.some(known => known === name))
      for (const trigger of unknown)
        report.leave('triggers of web hooks that their type does not support', `${label}: ${trigger}`)
      const kept = triggerNames.filter(name => triggers.includes(name) && !unknown.includes(name))
      // None means all, which it did not ask for.
      const isSilent = triggers.length > 0 && kept.length === 0
      const isEnabled = read.flag(row, 'is_enabled', true)
      const isUsable = findMissingHookSettings(type, config).length === 0 && !isSilent
      if (isEnabled && !isUsable) report.leave('web hooks that were disabled', label)
      return {
        sourceId,
        row: {
          station_id: station.id,
          name: hookName.slice(0, 100),
          type: typeName,
          is_enabled: isEnabled && isUsable,
          triggers: kept,
          config
        }
      }
    },
    async write(tx, hooks) {
      const newIds = await ids.assign(
        tx,
        'webhook',
        hooks.map(({ sourceId }) => ({ id: sourceId }))
      )
      await insertRows(
        tx,
        'webhooks',
        hooks.map(({ row }, index) => ({ ...row, id: newIds[index] }))
      )
    }
  })
}

/** Seals secrets and leaves out settings that are unset or unknown. */
function mapConfig(
  { secrets }: AzuracastMigration,
  typeName: string,
  config: Readonly<Record<string, unknown>>
) {
  const type = getHookType(typeName)
  const sent = Object.entries(config).flatMap(([key, value]) => {
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isScalar && value !== '' ? [{ key, value }] : []
  })
  const merged = mergeHookConfig(type, sent, [], secrets)
  return {
    config: addGeneratedSettings(type, merged.config, secrets).config,
    problems: merged.problems.map(({ message }) => message)
  }
}
