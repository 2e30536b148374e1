import { bodySchema } from '../../model/fields/validators.ts'
import { isDraftConfig } from '../hook-config.ts'
import type { TriggerFilter } from '../outbox.ts'
import { googleAnalyticsV4HookType, matomoAnalyticsHookType } from './analytics.ts'
import { blueskyHookType } from './bluesky.ts'
import { groupmeHookType, telegramHookType } from './bots.ts'
import { getmeradioHookType, radiodeHookType, radioregHookType, tuneinHookType } from './directories.ts'
import { discordHookType } from './discord.ts'
import { emailHookType } from './email.ts'
import { genericHookType } from './generic.ts'
import { retiredAnalyticsHookType, type HookType, type SettingFields, twitterHookType } from './hook-type.ts'
import { mastodonHookType } from './mastodon.ts'

const [first, ...others]: readonly [HookType, ...HookType[]] = [
  genericHookType,
  emailHookType,
  discordHookType,
  telegramHookType,
  groupmeHookType,
  mastodonHookType,
  blueskyHookType,
  tuneinHookType,
  radiodeHookType,
  radioregHookType,
  getmeradioHookType,
  googleAnalyticsV4HookType,
  matomoAnalyticsHookType,
  twitterHookType,
  retiredAnalyticsHookType
]

/** All types. */
export const hookTypes: readonly HookType[] = [first, ...others]

export const hookTypeNames: readonly [string, ...string[]] = [first.name, ...others.map(({ name }) => name)]

const byName = new Map(hookTypes.map(type => [type.name, type]))

/** Returns the type of a stored web hook. Throws if it is unknown. */
export function getHookType(name: string): HookType {
  const type = byName.get(name)
  if (!type) throw new Error(`unknown web hook type ${name}`)
  return type
}

/** Lists the settings of every type, for the documentation of the API. */
export function describeHookSettings(): string {
  const types = hookTypes
    .filter(({ isRetired }) => !isRetired)
    .map(({ name, settings }) => `${name}: ${Object.entries(settings).map(describeSetting).join(', ')}`)
  return `By type (* required, in brackets the default): ${types.join('; ')}.`
}

/** The settings (as the schema of an object) and triggers of every type, for forms. */
export function describeHookTypes() {
  const current = hookTypes.filter(({ isRetired }) => !isRetired)
  return Object.fromEntries(
    current.map(({ name, settings, triggers }) => [name, { settings: bodySchema(settings), triggers }])
  )
}

function describeSetting([key, { fallback, kind }]: [string, SettingFields[string]]): string {
  const asterisk = fallback === undefined ? '*' : ''
  const secrecy = kind === 'secret' ? ' (write-only)' : ''
  const preset = fallback === undefined || fallback === '' ? '' : ` [${String(fallback)}]`
  return key + asterisk + secrecy + preset
}

const isNamedList = (config: unknown) =>
  Array.isArray(config) && config.every((each: unknown) => typeof each === 'object' && each !== null)

/**
 * Returns the triggers of an event that a web hook gets: those it subscribes to, or all that its type supports if it
 * names none. A draft and a web hook of a retired type get none, and neither does one that this release cannot read,
 * such as of a type of a newer release: its station goes on.
 */
export const filterHookTriggers: TriggerFilter = (hook, fired) => {
  const type = byName.get(hook.type)
  const isReadable = Array.isArray(hook.triggers) && isNamedList(hook.config)
  if (!type || type.isRetired || !isReadable || isDraftConfig(type, hook.config)) return []
  const own = hook.triggers.length > 0 ? hook.triggers : type.triggers
  return fired.filter(trigger => own.includes(trigger) && type.triggers.includes(trigger))
}
