import * as v from 'valibot'

import {
  type Field,
  writeOnlyField,
  integerField,
  textField,
  type ValuesOf
} from '../../model/fields/field.ts'
import { bodyValidator } from '../../model/fields/validators.ts'
import { type Trigger, triggerNames as everyTrigger } from '../../model/station/triggers.ts'
import type { HookEvent, EventNowPlaying, AttemptContext } from '../hook-event.ts'
import { noDeliveryContent, type DeliveryContent } from './delivery-content.ts'

/** The settings of a type, by key. Those without a fallback are required. */
export type SettingFields = Readonly<Record<string, Field<string> | Field<number> | Field<boolean>>>

/** How long an event is retried: to the end, until there is a newer event, or for an hour. */
export type RetryPolicy = 'every' | 'newest' | 'hour'

/** A type of web hook: its settings, its triggers, and what it sends. */
export interface HookType<S extends SettingFields = SettingFields> {
  /** As in the API: `google_analytics_v4`. */
  readonly name: string
  /** The triggers that it supports; a web hook without triggers of its own has them all. */
  readonly triggers: readonly Trigger[]
  readonly settings: S
  /** Settings that requests are sent to; the address rules apply to them. */
  readonly urls: readonly (keyof S & string)[]
  /** Generators of settings that are not given at creation; these alone make no config. */
  readonly made: Readonly<Record<string, () => string>>
  readonly retryPolicy: RetryPolicy
  /** Its service no longer exists: kept and shown, never delivered, accepts any setting. */
  readonly isRetired: boolean
  /** Returns what a web hook with this config, secrets in clear, sends. Pure. */
  readonly send: (
    event: HookEvent,
    config: Readonly<Record<string, unknown>>,
    context: AttemptContext
  ) => DeliveryContent
}

/** For chat services, which a message per listener would flood. */
export const nonListenerTriggers: readonly Trigger[] = everyTrigger.filter(
  trigger => !trigger.startsWith('listener_')
)

const rateLimit = integerField({
  min: 0,
  max: 86_400,
  fallback: 0,
  about: 'Minimum seconds between two deliveries; later events are sent as one at the end of that time.'
})

/** By default a type supports all triggers, and retries for an hour, because people read its messages. */
type Declared<S extends SettingFields> = Pick<HookType<S>, 'name' | 'settings'> &
  Partial<Pick<HookType<S>, 'triggers' | 'urls' | 'made' | 'retryPolicy'>> & {
    /** Called with at least one trigger, all of them supported, and with all settings. */
    readonly send: (event: HookEvent, settings: ValuesOf<S>, context: AttemptContext) => DeliveryContent
  }

/** Declares a type. Every type has a `rate_limit`. */
export function defineHookType<const S extends SettingFields>(declared: Declared<S>) {
  const { triggers: supported = everyTrigger, urls = [], made = {}, settings } = declared
  const settingsValidator = bodyValidator(settings)
  return {
    name: declared.name,
    triggers: supported,
    urls,
    made,
    settings: { ...settings, rate_limit: rateLimit },
    retryPolicy: declared.retryPolicy ?? ('hour' as const),
    isRetired: false,
    send: (event: HookEvent, config: Readonly<Record<string, unknown>>, context: AttemptContext) => {
      const triggers = event.triggers.filter(trigger => supported.includes(trigger))
      if (triggers.length === 0)
        return noDeliveryContent('The type does not support the triggers of the event.')
      const checked = v.safeParse(settingsValidator, config)
      if (!checked.success) return noDeliveryContent('The config is incomplete.')
      return declared.send({ ...event, triggers }, checked.output, context)
    }
  }
}

type RenderedSong = EventNowPlaying['now_playing']['song']

/** The song that plays; null if only the offline text is shown. */
export function findPlayingSong({ now_playing: { sh_id, song } }: EventNowPlaying): RenderedSong | null {
  return sh_id === 0 ? null : song
}

/** Declares a type for directories and statistics, which only get songs, and nothing while no song plays. */
export function defineSongHookType<const S extends SettingFields>({
  send,
  ...declared
}: Omit<Declared<S>, 'triggers' | 'send'> & {
  readonly send: (song: RenderedSong, settings: ValuesOf<S>, event: HookEvent) => DeliveryContent
}) {
  return defineHookType<S>({
    ...declared,
    triggers: ['song_changed'],
    retryPolicy: 'newest',
    send(event, settings) {
      const song = findPlayingSong(event.nowPlaying)
      return song === null ? noDeliveryContent('No song is playing.') : send(song, settings, event)
    }
  })
}

/** Declares a type whose service no longer exists. Its secrets stay secret. */
function retiredType({ name, settings }: Pick<HookType, 'name' | 'settings'>): HookType {
  return { ...defineHookType({ name, settings: {}, send: sendNothing }), settings, isRetired: true }
}

const sendNothing = () => noDeliveryContent('The service no longer exists.')

const secret = (about: string) => writeOnlyField(textField({ max: 2_000, fallback: '', about }))

export const twitterHookType = retiredType({
  name: 'twitter',
  settings: {
    consumer_secret: secret('The secret of the application.'),
    token_secret: secret('The secret of the account\u2019s token.')
  }
})

export const retiredAnalyticsHookType = retiredType({ name: 'google_analytics', settings: {} })
