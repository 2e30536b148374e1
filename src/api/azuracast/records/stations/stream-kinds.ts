import { openHlsStreamRoutes } from '../../../stations/hls-streams.ts'
import { openMountRoutes } from '../../../stations/mounts.ts'
import { handlersOf } from '../../record-dialect.ts'

/** AzuraCast has mounts and HLS streams apart. Streams that are only HLS are named `/hls/...`. */
export const streamKinds = handlersOf([
  ...openMountRoutes("name not like '/hls/%'"),
  ...openHlsStreamRoutes("name like '/hls/%'")
])
