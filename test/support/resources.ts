import { sftpUsersResource } from '../../src/api/admin/sftp-users.ts'
import { storageLocationsResource } from '../../src/api/admin/storage-locations.ts'
import type { ResourceBase } from '../../src/api/core/resource.ts'
import { customFieldsResource } from '../../src/api/library/custom-fields.ts'
import { filesResource } from '../../src/api/library/files.ts'
import { playlistsResource } from '../../src/api/playlists/playlists.ts'
import { hlsStreamsResource } from '../../src/api/stations/hls-streams.ts'
import { remotesResource } from '../../src/api/stations/remotes.ts'
import { stationsResource } from '../../src/api/stations/stations.ts'
import { streamersResource } from '../../src/api/streamers/streamers.ts'
import { webhooksResource } from '../../src/api/webhooks/webhooks.ts'

/** Every resource, without the mounts, which share the table of the HLS streams. */
export const resources: readonly ResourceBase[] = [
  playlistsResource,
  filesResource,
  hlsStreamsResource,
  remotesResource,
  sftpUsersResource,
  streamersResource,
  webhooksResource,
  customFieldsResource,
  storageLocationsResource,
  stationsResource
]
