import {
  locationColumnsFragment,
  type StoredLocation,
  toLocationWithoutSecrets
} from '../../library/storage/location-record.ts'
import { locationUri } from '../../library/storage/location.ts'
import { storageLocationReferences } from '../admin/storage-locations.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'

const options = arrayOf(
  exactObject({ value: int64, text: string, description: { type: ['string', 'null'] } })
)
/** The names that AzuraCast gives the fields. */
const nameOf = (field: string) => field.replace(/_id$/, '')

export const storageChoicesRoute = apiRoute(
  'GET',
  '/api/admin/stations/storage-locations',
  'administer stations',
  {
    id: 'listStorageChoices',
    tag: 'Stations',
    summary: 'The storage locations that a station may use, for each of its fields',
    response: exactObject(
      Object.fromEntries(storageLocationReferences.map(([field]) => [nameOf(field), options]))
    ),
    async handle(_, { reads: sql }) {
      const rows = await sql<(StoredLocation & { id: number; type: string })[]>`
      select id, type, ${locationColumnsFragment(sql)} from storage_locations order by id limit 10000`
      const choices = storageLocationReferences.map(([field, type]) => {
        const found = rows.filter(row => row.type === type)
        return [
          nameOf(field),
          found.map(row => ({
            value: row.id,
            text: locationUri(toLocationWithoutSecrets(row)),
            description: null
          }))
        ]
      })
      return jsonReply(Object.fromEntries(choices))
    }
  }
)
