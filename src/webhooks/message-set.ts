import { template } from './settings.ts'

const message = (trigger: string) =>
  template({ max: 500, fallback: '', about: `The post on ${trigger}; empty: none.` })

/** A post per trigger, for social networks. */
export const messageSet = {
  message: message('song_changed'),
  message_song_changed_live: message('song_changed_live'),
  message_live_connect: message('live_connect'),
  message_live_disconnect: message('live_disconnect'),
  message_station_offline: message('station_offline'),
  message_station_online: message('station_online')
}
