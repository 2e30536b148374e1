import { songChanges } from '../allowed-triggers.ts'
import { hookType } from '../hook-type.ts'
import { credential, identifier } from '../settings.ts'

/** The song in TuneIn's directory (AIR API). */
export const tunein = hookType({
  name: 'tunein',
  title: 'TuneIn',
  triggers: songChanges,
  settings: {
    station_id: identifier('The station at TuneIn.', 's123456'),
    partner_id: identifier('The partner id.'),
    partner_key: credential('The partner key.')
  }
})
