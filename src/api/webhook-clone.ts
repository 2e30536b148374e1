import { beginForStation } from '../db/station-transaction.ts'
import { isSecret, shownConfig, withMade } from '../webhooks/config.ts'
import { hookTypeOf } from '../webhooks/hook-types.ts'
import { recordAudit } from './audit.ts'
import { openStore } from './resource-store.ts'
import { type ApiRoute, stationOf } from './route.ts'
import { readHook } from './webhook-row.ts'
import { webhookRules, webhooks } from './webhooks.ts'

const store = openStore(webhooks, webhookRules)

const suffix = ' (Copy)'
const longestName = 100

const clone: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/webhook/:id/clone',
  access: 'manage station web hooks',
  operation: {
    id: 'cloneWebhook',
    tag: 'Web hooks',
    summary:
      'Copy a web hook without its secrets; the copy is disabled, and cannot be enabled before it has those that its type requires',
    answer: { $ref: '#/components/schemas/Webhook' },
    status: 201
  },
  async handle(request, services) {
    const { sql, secrets } = services
    const station = stationOf(request)
    const copy = await beginForStation(sql, station.id, async tx => {
      const hook = await readHook(tx, request)
      const type = hookTypeOf(hook.type)
      const kept = hook.config.filter(({ key }) => !isSecret(type, key))
      const { config, made } = withMade(type, kept, secrets)
      const row = {
        station_id: station.id,
        name: nameOfCopy(hook.name),
        type: hook.type,
        is_enabled: false,
        triggers: tx.json([...hook.triggers]),
        config: tx.json(config.map(each => ({ ...each })))
      }
      const [inserted] = await tx<{ id: number }[]>`insert into webhooks ${tx(row)} returning id`
      if (!inserted) throw new Error('insert gave no row')
      const fields = ['name', 'type', 'is_enabled', 'triggers', 'config']
      await recordAudit(tx, request, { record: 'Webhook', id: inserted.id, fields })
      return { id: inserted.id, made, shown: shownConfig(type, kept, true) }
    })
    const record = await store.read(services, request, station, copy.id)
    const reveal = copy.made.length > 0 ? { config: [...copy.shown, ...copy.made] } : {}
    return { status: 201, body: JSON.stringify({ ...record, ...reveal }) }
  }
}

function nameOfCopy(name: string): string {
  return Array.from(name)
    .slice(0, longestName - suffix.length)
    .join('')
    .concat(suffix)
}

export const webhookCloneRoutes = [clone]
