import { locationUri } from '../../library/storage/location.ts'
import { recordColumns, type StoredLocation, withoutSecrets } from '../../library/storage/record.ts'
import { storageReferences } from '../admin/storage-locations.ts'
import { apiRoute, json } from '../core/route.ts'
import { arrayOf, exactly, int64, string } from '../core/schemas.ts'

const options = arrayOf(exactly({ value: int64, text: string, description: { type: ['string', 'null'] } }))
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
    response: exactly(Object.fromEntries(storageReferences.map(([field]) => [nameOf(field), options]))),
    async handle(_, { reads: sql }) {
      const rows = await sql<(StoredLocation & { id: number; type: string })[]>`
      select id, type, ${recordColumns(sql)} from storage_locations order by id limit 10000`
      const choices = storageReferences.map(([field, type]) => {
        const found = rows.filter(row => row.type === type)
        return [
          nameOf(field),
          found.map(row => ({ value: row.id, text: locationUri(withoutSecrets(row)), description: null }))
        ]
      })
      return json(Object.fromEntries(choices))
    }
  }
)
