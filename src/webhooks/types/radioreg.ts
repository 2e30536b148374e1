import { flag } from '../../fields/field.ts'
import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { address, credential } from '../settings.ts'

/** The song and the next one in the directory RadioReg. */
export const radioreg = hookType({
  name: 'radioreg',
  title: 'RadioReg',
  triggers: songChanges,
  settings: {
    webhookurl: address({ about: 'The address RadioReg gave for the station.' }),
    apikey: credential('The API key.'),
    send_cover_art: flag({ fallback: false, about: 'Whether the address of the cover is sent along.' })
  },
  urls: ['webhookurl']
})
