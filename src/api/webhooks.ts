import * as v from 'valibot'

import type { FieldError } from '../errors.ts'
import {
  choice,
  fixed,
  flag,
  given,
  listOf,
  type NamedValue,
  namedChanges,
  namedValueSchema,
  problem,
  text
} from '../fields/field.ts'
import { networkList } from '../networks.ts'
import { type Trigger, triggers } from '../station/triggers.ts'
import { type Config, isDraft, settleConfig, shownConfig, withMade } from '../webhooks/config.ts'
import { describeSettings } from '../webhooks/described.ts'
import type { HookType } from '../webhooks/hook-type.ts'
import { hookTypeNames, hookTypeOf } from '../webhooks/hook-types.ts'
import { checkTarget } from '../webhooks/look-up.ts'
import { resourceRoutes } from './resource-routes.ts'
import { type Plan, type Rules, resource, type Stored } from './resource.ts'
import { readMetadata } from './webhook-metadata.ts'

/** Whom to tell when something happens at a station. */
export const webhooks = resource({
  name: 'Webhook',
  title: 'web hook',
  tag: 'Web hooks',
  table: 'webhooks',
  paths: { list: '/api/station/:station_id/webhooks', one: '/api/station/:station_id/webhook/:id' },
  access: { read: 'manage station web hooks', write: 'manage station web hooks' },
  fields: {
    name: text({ max: 100, fallback: '', isTrimmed: true, about: 'What operators read.', example: 'Chat' }),
    type: fixed(choice(hookTypeNames, { about: 'Who is told; fixed once it is there.' })),
    is_enabled: flag({ fallback: true, about: 'Whether it is used.' }),
    triggers: listOf<Trigger>(
      v.pipe(
        v.string(problem('invalid_type', 'must be text.')),
        v.picklist(triggers, problem('not_in_enum', `must be one of ${triggers.join(', ')}.`))
      ),
      {
        max: 50,
        items: { type: 'string', enum: triggers },
        about: 'What it is told of; empty: of everything its type allows.'
      }
    ),
    config: namedChanges({
      max: 50,
      about: `Settings of its type; without any it is a draft. ${describeSettings()}`,
      example: [{ key: 'webhook_url', value: 'https://example.com/hooks/radio' }]
    }),
    metadata: given<NamedValue[]>({
      schema: { type: 'array', items: namedValueSchema },
      about: 'state (active, draft, retired or auto_disabled), and how its deliveries went.'
    })
  },
  search: ['name'],
  sort: ['id', 'name', 'type'],
  order: 'name'
})

type HookFields = typeof webhooks.fields

const rules: Rules<HookFields> = {
  ahead: urlProblems,
  prepare({ services, before, values, sent, reveal }) {
    const type = hookTypeOf(before?.type ?? values.type)
    const problems = sent.has('triggers') ? triggerProblems(type, values.triggers) : []
    if (sent.has('triggers')) values.triggers = [...new Set(values.triggers)]
    if (!sent.has('config')) return problems
    const { secrets } = services
    const settled = settleConfig(type, values.config, before ? storedConfig(before) : [], secrets)
    values.config = settled.config
    if (!before) {
      const { config, made } = withMade(type, settled.config, secrets)
      values.config = config
      if (made.length > 0) reveal['config'] = [...shownConfig(type, settled.config), ...made]
    }
    return [...problems, ...settled.problems]
  },
  async wrote({ tx, before, values }, id) {
    if (before?.is_enabled !== false || !values.is_enabled) return
    await tx`update webhooks set is_auto_disabled = false, consecutive_failures = 0 where id = ${id}`
  },
  async shown(rows, { services }) {
    const configs = rows.map(row => shownConfig(hookTypeOf(row.type), storedConfig(row)))
    const hooks = rows.map(row => ({
      id: row.id,
      isEnabled: row.is_enabled,
      isDraft: isDraft(hookTypeOf(row.type), row.config),
      isRetired: hookTypeOf(row.type).isRetired
    }))
    const metadata = await readMetadata(services.sql, hooks)
    return hooks.map(({ id }, index) => ({ config: configs[index] ?? [], metadata: metadata.get(id) ?? [] }))
  }
}

/** What is stored holds no null: that only ever comes in. */
function storedConfig({ config }: Pick<Stored<HookFields>, 'config'>): Config {
  return config.flatMap(({ key, value }) => (value === null ? [] : [{ key, value }]))
}

function triggerProblems(type: HookType, asked: readonly Trigger[]): FieldError[] {
  return asked.flatMap((trigger, index) => {
    if (type.triggers.includes(trigger)) return []
    const field = `triggers.${index}`
    const message = `${field} is not allowed: the type ${type.name} knows ${type.triggers.join(', ')} only.`
    return [{ field, code: 'not_allowed_for_type', message }]
  })
}

/** Looks up where a config's URLs lead. Those that are none are found by the settings themselves. */
async function urlProblems(plan: Plan<HookFields>): Promise<FieldError[]> {
  const { values, services } = plan
  if (!values.config?.length) return []
  const typeName = values.type ?? (await storedType(plan))
  if (typeName === null) return []
  const allowed = networkList(services.config.WEBHOOK_ALLOWED_NETWORKS)
  const { urls } = hookTypeOf(typeName)
  const targets = values.config.filter(({ key }) => urls.includes(key))
  const found = await Promise.all(
    targets.map(async ({ key, value }) => {
      const url = String(value).trim()
      const refused = URL.canParse(url) ? await checkTarget(url, allowed) : null
      const field = `config.${key}`
      return refused ? [{ field, code: refused.code, message: `${field} ${refused.sentence}` }] : []
    })
  )
  return found.flat()
}

/** The type of the hook that is to be changed; it never changes itself. */
async function storedType({ services, station, id }: Plan<HookFields>): Promise<string | null> {
  const [row] = await services.sql<{ type: string }[]>`
    select type from webhooks where id = ${id} and station_id = ${station?.id ?? null}`
  return row?.type ?? null
}

export const webhookRoutes = resourceRoutes(webhooks, rules)
