import type { ValuesOf } from '../../model/fields/field.ts'
import { isBlank } from '../format/plain-text.ts'
import type { HookEvent } from '../hook-event.ts'
import { templateSetting } from './hook-settings.ts'
import { findPlayingSong } from './hook-type.ts'

const message = (trigger: string) =>
  templateSetting({ max: 500, fallback: '', about: `The post on ${trigger}; empty: none.` })

/** A template per trigger, for social networks. */
export const postTemplateFields = {
  message: message('song_changed'),
  message_song_changed_live: message('song_changed_live'),
  message_live_connect: message('live_connect'),
  message_live_disconnect: message('live_disconnect'),
  message_station_offline: message('station_offline'),
  message_station_online: message('station_online')
}

/** The reason to send nothing if `renderPosts` returns no posts. */
export const noPostReason = 'The event has no template, its text is empty, or its song has ended.'

/** The posts on an event, one per trigger with a template; ids are the same in every attempt. */
export function renderPosts(
  { id, triggers, nowPlaying }: HookEvent,
  settings: ValuesOf<typeof postTemplateFields>,
  fill: (template: string) => string
) {
  const templates = {
    song_changed: settings.message,
    song_changed_live: settings.message_song_changed_live,
    live_connect: settings.message_live_connect,
    live_disconnect: settings.message_live_disconnect,
    station_offline: settings.message_station_offline,
    station_online: settings.message_station_online,
    listener_gained: '',
    listener_lost: ''
  }
  // Merged events show the newest state, in which the song may have ended.
  const isSilent = findPlayingSong(nowPlaying) === null
  return triggers
    .filter(trigger => !(isSilent && trigger.startsWith('song_')))
    .map(trigger => fill(templates[trigger]))
    .filter(text => !isBlank(text))
    .map((text, index) => ({ id: index === 0 ? id : `${id}-${index + 1}`, text }))
}
