import { sftpUsers } from '../../src/api/admin/sftp-users.ts'
import { storageLocations } from '../../src/api/admin/storage-locations.ts'
import type { ResourceBase } from '../../src/api/core/resource.ts'
import { customFields } from '../../src/api/library/custom-fields.ts'
import { files } from '../../src/api/library/files.ts'
import { playlists } from '../../src/api/playlists/playlists.ts'
import { hlsStreams } from '../../src/api/stations/hls-streams.ts'
import { remotes } from '../../src/api/stations/remotes.ts'
import { stations } from '../../src/api/stations/stations.ts'
import { streamers } from '../../src/api/streamers/streamers.ts'
import { webhooks } from '../../src/api/webhooks/webhooks.ts'

/** Every resource, without the mounts, which share the table of the HLS streams. */
export const resources: readonly ResourceBase[] = [
  playlists,
  files,
  hlsStreams,
  remotes,
  sftpUsers,
  streamers,
  webhooks,
  customFields,
  storageLocations,
  stations
]
