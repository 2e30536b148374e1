import { hlsStreamRoutesWhere } from '../../../stations/hls-streams.ts'
import { mountRoutesWhere } from '../../../stations/mounts.ts'
import { dialectsFromRoutes } from '../../record-dialect.ts'

/** AzuraCast has mounts and HLS streams apart. Streams that are only HLS are named `/hls/...`. */
export const streamKindDialects = dialectsFromRoutes([
  ...mountRoutesWhere("name not like '/hls/%'"),
  ...hlsStreamRoutesWhere("name like '/hls/%'")
])
