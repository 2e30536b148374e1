import { googleAnalytics, type HookType, type Settings, twitter } from './hook-type.ts'
import { bluesky } from './types/bluesky.ts'
import { discord } from './types/discord.ts'
import { email } from './types/email.ts'
import { generic } from './types/generic.ts'
import { getmeradio } from './types/getmeradio.ts'
import { googleAnalyticsV4 } from './types/google-analytics-v4.ts'
import { groupme } from './types/groupme.ts'
import { mastodon } from './types/mastodon.ts'
import { matomoAnalytics } from './types/matomo-analytics.ts'
import { radiode } from './types/radiode.ts'
import { radioreg } from './types/radioreg.ts'
import { telegram } from './types/telegram.ts'
import { tunein } from './types/tunein.ts'

const [first, ...others]: readonly [HookType, ...HookType[]] = [
  generic,
  email,
  discord,
  telegram,
  groupme,
  mastodon,
  bluesky,
  tunein,
  radiode,
  radioreg,
  getmeradio,
  googleAnalyticsV4,
  matomoAnalytics,
  twitter,
  googleAnalytics
]

/** Every type there is. */
export const hookTypes: readonly HookType[] = [first, ...others]

export const hookTypeNames: readonly [string, ...string[]] = [first.name, ...others.map(({ name }) => name)]

const byName = new Map(hookTypes.map(type => [type.name, type]))

/** The type of a stored hook. */
export function hookTypeOf(name: string): HookType {
  const type = byName.get(name)
  if (!type) throw new Error(`no web hook type ${name}`)
  return type
}

/** Every type with its settings, in words for the documentation of the API. */
export function describeSettings(): string {
  const types = hookTypes
    .filter(({ isRetired }) => !isRetired)
    .map(({ name, settings }) => `${name}: ${Object.entries(settings).map(describeSetting).join(', ')}`)
  return `By type (* required, in brackets the default): ${types.join('; ')}.`
}

function describeSetting([key, { fallback, kind }]: [string, Settings[string]]): string {
  const asterisk = fallback === undefined ? '*' : ''
  const secrecy = kind === 'secret' ? ' (write-only)' : ''
  const preset = fallback === undefined || fallback === '' ? '' : ` [${String(fallback)}]`
  return key + asterisk + secrecy + preset
}
