import type { ApiRecord } from '../forms/form-values.ts'
import { openRecordForm } from '../resources/record-actions.ts'
import { stationsResourceView } from '../resources/stations.ts'
import { storeChosenStation } from '../start/chosen-station.ts'
import { installationLink } from '../ui/route.ts'

/** Opens the form of a new station, which leads to its first steps. `host` dispatches the notices. */
export function openNewStation(host: EventTarget, refresh: () => Promise<unknown>): Promise<void> {
  const scene = {
    host,
    resource: stationsResourceView,
    station: '',
    refresh,
    onCreated: (station: ApiRecord) => {
      storeChosenStation(Number(station['id']))
      location.hash = installationLink('start')
    }
  }
  return openRecordForm(scene, null, { isNew: true })
}
