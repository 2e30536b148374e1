import * as v from 'valibot'

import { type Field, hidden, integer, text, type ValuesOf } from '../../fields/field.ts'
import { formOf } from '../../fields/form.ts'
import { triggers as all, type Trigger } from '../../station/triggers.ts'
import { nothing, type Sending } from '../deliveries/sending.ts'
import type { Attempt, HookEvent } from '../event.ts'

/** The settings of a type, by key. Those without a fallback are required. */
export type Settings = Readonly<Record<string, Field<string> | Field<number> | Field<boolean>>>

/** A type of receiver: its settings, its triggers, and what it sends. */
export interface HookType<S extends Settings = Settings> {
  /** As the interface spells it: `google_analytics_v4`. */
  readonly name: string
  /** Whom or what it tells, for people. */
  readonly title: string
  /** What may trigger it; without triggers of its own a hook has them all. */
  readonly triggers: readonly Trigger[]
  readonly settings: S
  /** Settings to which requests go: the guard judges them. */
  readonly urls: readonly (keyof S & string)[]
  /** Settings that are made at creation where none is given; they alone are no config yet. */
  readonly made: Readonly<Record<string, () => string>>
  /** Kept and read, never delivered: its service is gone, and any setting is taken. */
  readonly isRetired: boolean
  /** What a hook with this config, secrets in clear, sends. The same arguments give the same. */
  readonly send: (event: HookEvent, config: Readonly<Record<string, unknown>>, attempt: Attempt) => Sending
}

const rateLimit = integer({
  min: 0,
  max: 86_400,
  fallback: 0,
  about: 'Seconds between two deliveries; what happens meanwhile goes out as one at their end.'
})

interface Declared<S extends Settings> {
  readonly name: string
  readonly title: string
  readonly triggers: readonly Trigger[]
  readonly settings: S
  readonly urls?: readonly (keyof S & string)[]
  readonly made?: { readonly [Key in keyof S]?: () => string }
  /** What is sent: of the event only triggers that the type allows, at least one; of the settings all. */
  readonly send: (event: HookEvent, settings: ValuesOf<S>, attempt: Attempt) => Sending
}

/** Declares a type. Every type has a `rate_limit`. */
export function hookType<const S extends Settings>(declared: Declared<S>) {
  const { urls = [], made = {}, settings, send, ...rest } = declared
  const form = formOf(settings)
  return {
    ...rest,
    urls,
    made,
    settings: { ...settings, rate_limit: rateLimit },
    isRetired: false,
    send: (event: HookEvent, config: Readonly<Record<string, unknown>>, attempt: Attempt) => {
      const triggers = event.triggers.filter(trigger => declared.triggers.includes(trigger))
      if (triggers.length === 0) return nothing('The type is not told of what happened.')
      const checked = v.safeParse(form, config)
      if (!checked.success) return nothing('The config is not complete.')
      return send({ ...event, triggers }, checked.output, attempt)
    }
  }
}

/** Declares a type whose service is gone. Its secrets stay secret. */
export function retiredType({ name, title, settings }: Pick<HookType, 'name' | 'title' | 'settings'>) {
  return { name, title, settings, triggers: all, urls: [], made: {}, isRetired: true, send: sendNothing }
}

const sendNothing = () => nothing('The service is gone.')

const secret = (about: string) => hidden(text({ max: 2_000, fallback: '', about }))

/** Its interface for posting is gone. */
export const twitter = retiredType({
  name: 'twitter',
  title: 'Twitter',
  settings: {
    consumer_secret: secret('The secret of the application.'),
    token_secret: secret('The secret of the account\u2019s token.')
  }
})

/** Universal Analytics ended in 2023. */
export const googleAnalytics = retiredType({
  name: 'google_analytics',
  title: 'Google Analytics (Universal)',
  settings: {}
})
