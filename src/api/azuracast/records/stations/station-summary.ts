import { renderAzuracastStation } from '../../../../model/station/now-playing.ts'
import { boolean } from '../../../core/schemas.ts'
import type { RecordDialect } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'

type StationRow = { readonly id: number }

/** The station of now playing, rendered from its state. */
export const stationSummaryDialect: RecordDialect<StationRow> = {
  response: schemaChanger({
    nullable: ['listen_url', 'url', 'hls_url'],
    fields: { requests_enabled: boolean }
  }),
  render: (rows, { services: { live, config } }) =>
    rows.flatMap(({ id }) => {
      const state = live.findState(id)
      return state ? [renderAzuracastStation(state, config.BASE_URL)] : []
    })
}
