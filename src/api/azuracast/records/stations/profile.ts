import { renderAzuracastStation } from '../../../../model/station/now-playing.ts'
import { stationReads } from '../../../stations/stations.ts'
import type { RecordDialect } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'
import { flattenStationBody, stationDialect } from './station.ts'

/** The station of a profile, as in now playing. */
export const stationProfileDialect: RecordDialect = {
  render(rows, { services: { live, config }, stationId }) {
    const state = live.findState(stationId)
    return rows.map(row =>
      state ? { ...row, station: renderAzuracastStation(state, config.BASE_URL) } : row
    )
  }
}

/** Fields that AzuraCast shows to administrators only. */
const administered = ['media_storage_location', 'recordings_storage_location', 'podcasts_storage_location']

/** The settings of a station that its operators may change. AzuraCast shows and takes them as those of the station. */
export const editableProfileDialect: RecordDialect = {
  ...(stationDialect.computed ? { computed: stationDialect.computed } : {}),
  ...(stationDialect.fields ? { fields: stationDialect.fields } : {}),
  ...(stationDialect.constants ? { constants: stationDialect.constants } : {}),
  response: documented =>
    schemaChanger({ omitted: administered })(stationDialect.response?.(documented) ?? documented),
  async render(_rows, context) {
    const { services, request, stationId } = context
    const record = await stationReads.read(services, request, null, stationId)
    const shown: RecordDialect = stationDialect
    const rendered = (await shown.render?.([record ?? {}], context)) ?? []
    return rendered.map(row =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !administered.includes(name)))
    )
  },
  parse: flattenStationBody
}
