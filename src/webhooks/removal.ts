import { batchLimit, removeInBatches } from '../db/batches.ts'
import type { Sql } from '../db/sql.ts'
import type { NamedChange } from '../fields/field.ts'
import { parsedUrl } from '../outbound/networks.ts'
import type { FieldError } from '../runtime/errors.ts'
import { type HookConfig, isSecret, openedConfig, type Seals } from './config.ts'
import type { HookType } from './types/hook-type.ts'

const hooksPerRun = 10

/**
 * Removes the deliveries of web hooks that were deleted, with their attempts. It may run in any number of
 * processes; what is too much for one run is left to the next. Returns how many deliveries.
 */
export async function removeDeletedDeliveries(sql: Sql): Promise<number> {
  const hooks = await sql<{ id: number }[]>`select id from deleted_webhooks order by id limit ${hooksPerRun}`
  let removed = 0
  for (const { id } of hooks) {
    const { rows, isComplete } = await removeInBatches(
      () => sql`
        delete from webhook_deliveries where ctid = any(array(
          select ctid from webhook_deliveries where webhook_id between ${id} and ${id}
          order by webhook_id, id desc ${batchLimit(sql)} for update skip locked))`
    )
    removed += rows
    // A row that was locked is left: then the hook stays noted.
    if (isComplete)
      await sql`
        delete from deleted_webhooks where id = ${id}
          and not exists (select from webhook_deliveries where webhook_id = ${id})`
  }
  return removed
}

/**
 * Kept secrets that would follow a changed address: who may change it must not learn them so. A secret that
 * is sent again or cleared may go anywhere, and what is made at creation is never sent.
 */
export function secretsLeftBehind(
  type: HookType,
  sent: readonly NamedChange[],
  stored: HookConfig,
  seals: Pick<Seals, 'open'>
): FieldError[] {
  // Without any setting it becomes a draft, which keeps none.
  if (sent.length === 0) return []
  const moved = type.urls.find(key => isMoved(type, key, sent, stored, seals))
  if (moved === undefined) return []
  const sentKeys = new Set(sent.filter(({ value }) => value !== '').map(({ key }) => key))
  const isKept = (key: string) =>
    isSecret(type, key) && !sentKeys.has(key) && !type.urls.includes(key) && !Object.hasOwn(type.made, key)
  return stored
    .filter(({ key }) => isKept(key))
    .map(({ key }) => ({
      field: `config.${key}`,
      code: 'required',
      message: `config.${key} must be sent again, because ${moved} leads elsewhere.`
    }))
}

/** Whether an address that is set so leads to another server: scheme, host or port differ. */
function isMoved(
  type: HookType,
  key: string,
  sent: readonly NamedChange[],
  stored: HookConfig,
  seals: Pick<Seals, 'open'>
): boolean {
  const next = sent.find(each => each.key === key)?.value ?? ''
  if (next === '' && isSecret(type, key)) return false
  const former = stored.filter(each => each.key === key)
  const fallback = type.settings[key]?.fallback ?? ''
  return originOf(next === '' ? fallback : next) !== originOf(opened(type, former, seals) ?? fallback)
}

/** The first value in clear; one that cannot be opened leads nowhere. */
function opened(type: HookType, config: HookConfig, seals: Pick<Seals, 'open'>): unknown {
  try {
    return Object.values(openedConfig(type, config, seals))[0]
  } catch {
    return ''
  }
}

const originOf = (value: unknown) => parsedUrl(String(value))?.origin ?? ''
