import type { LiveView, StationListing } from '../../model/station/live-view.ts'
import { hasPermission } from '../auth/access.ts'
import type { ApiRequest } from '../core/route.ts'

/** The stations that the caller may view as an operator. */
export function findViewableStations({ caller }: ApiRequest, live: LiveView): readonly StationListing[] {
  const key = caller?.key
  if (!key) return []
  return live
    .all()
    .filter(({ stationId }) =>
      hasPermission(key, { permission: 'view station management', stationId, isRead: true })
    )
}
