import { openFileTableRoutes } from '../../../library/table/table-routes.ts'
import { dialectsFromRoutes } from '../../record-dialect.ts'

/** AzuraCast separates the playlists of a song with commas. */
export const fileTableDialects = dialectsFromRoutes(openFileTableRoutes({ usesCommas: true }))
