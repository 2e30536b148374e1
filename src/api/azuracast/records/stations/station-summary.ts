import { renderAzuracastStation } from '../../../../model/station/now-playing.ts'
import type { RecordDialect } from '../../record-dialect.ts'

type StationRow = { readonly id: number }

/** The station of now playing, rendered from its state. */
export const stationSummary: RecordDialect<StationRow> = {
  render: (rows, { services: { live, config } }) =>
    rows.flatMap(({ id }) => {
      const state = live.get(String(id))
      return state ? [renderAzuracastStation(state, config.BASE_URL)] : []
    })
}
