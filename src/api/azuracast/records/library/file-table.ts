import { openBulkFileRoutes } from '../../../library/table/bulk-files.ts'
import { handlersOf } from '../../record-dialect.ts'

/** AzuraCast separates the playlists of a song with commas. */
export const fileTable = handlersOf(openBulkFileRoutes({ usesCommas: true }))
