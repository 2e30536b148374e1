import type { Program } from '../support/program.ts'

const reports = 'a report of what happens, not a change by an operator'
const nothing = 'nothing is stored'
const signsIn = 'signing in and out, which sessions show'

/** Operations whose success writes no entry of the audit log, with the reason. */
export const unaudited: Readonly<Record<string, string>> = {
  reportListeners: reports,
  reportListenersOfStations: reports,
  updateNowPlaying: reports,
  updateNowPlayingByGet: reports,
  playoutNextsong: reports,
  playoutFeedback: reports,
  playoutCp: reports,
  playoutAuth: reports,
  playoutDjon: reports,
  playoutDjoff: reports,
  playoutCommands: reports,
  playoutSavecache: reports,
  requestSong: 'a wish of a listener',
  createUpload: 'the library has the file when it is complete',
  getUpload: 'it was complete before',
  deleteUpload: 'the library never had the file',
  previewFileTable: nothing,
  simulateUnsavedSchedule: nothing,
  explainNextSong: nothing,
  clearCache: nothing,
  createListenToken: nothing,
  checkSftpLogin: nothing,
  readDashboardCharts: nothing,
  setLiquidsoapConfig: 'it has nothing that can be changed',
  editSettingsBackup: 'it has nothing that can be changed',
  editSettingsGeoIp: 'it has nothing that can be changed',
  listenToEventsByPost: 'a subscription',
  listenToLines: 'a subscription',
  signIn: signsIn,
  signOut: signsIn,
  signInWithPasskey: signsIn,
  offerPasskeySignIn: signsIn,
  openInvitation: nothing,
  offerPasskeyToJoin: nothing,
  offerPasskey: nothing
}

/** Operations that write an entry, which needs more than a server to see. */
export const unproven: Readonly<Record<string, string>> = {
  addPasskey: 'needs an authenticator: people-browser.test.ts has one'
}

type Ask = (method: string, path: string, body?: unknown) => Promise<{ id: number }>

/** How operations succeed that are refused while every operation is called once. */
export const completions: Readonly<
  Record<string, (ask: Ask, program: Program, stationId: number) => Promise<unknown>>
> = {
  async cancelRequest(ask, { sql }, stationId) {
    const [request] = await sql<{ id: number }[]>`
      insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
      select ${stationId}::bigint, min(id), '', 0, ${Date.now() + 600_000} from media where station_id = ${stationId} returning id`
    await ask('DELETE', `station/${stationId}/reports/requests/${request?.id}`)
  },
  async revokeInvitation(ask) {
    const { id: role } = await ask('POST', 'admin/roles', { name: 'Guests' })
    const made: unknown = await ask('POST', 'admin/invitations', {
      email: 'guest@example.com',
      roles: [role]
    })
    await ask('DELETE', `admin/invitation/${Object(made).invitation.id}`)
  },
  async deleteNotifications(ask) {
    const made: unknown = await ask('POST', 'v1/main/notifications', { title: 'Once' })
    const ids = [Object(made).notification.notification_id]
    await ask('POST', 'v1/main/notifications/bulk-delete', { ids })
  },
  async deletePlaylistEntry(ask, { sql }, stationId) {
    const path = `station/${stationId}/playlist`
    const { id } = await ask('POST', `${path}s`, { name: 'Entries' })
    const [media] = await sql<
      { id: number }[]
    >`select min(id) as id from media where station_id = ${stationId}`
    await ask('POST', `${path}/${id}/entries`, { media_id: media?.id })
    const [entry] = await sql<{ id: number }[]>`select id from playlist_entries where playlist_id = ${id}`
    await ask('DELETE', `${path}/${id}/entry/${entry?.id}`)
  },
  async deleteStationFile(ask, _, stationId) {
    const { id } = await ask('POST', `station/${stationId}/files`, { path: 'https://example.com/once.mp3' })
    await ask('DELETE', `station/${stationId}/file/${id}`)
  },
  async deleteRole(ask) {
    const { id } = await ask('POST', 'admin/roles', { name: 'Nobody' })
    await ask('DELETE', `admin/role/${id}`)
  },
  deleteBroadcast: async (ask, program, stationId) => {
    const { streamer, broadcast } = await addBroadcast(ask, program, stationId, 'one')
    await ask('DELETE', `station/${stationId}/streamer/${streamer}/broadcast/${broadcast}`)
  },
  batchBroadcasts: async (ask, program, stationId) => {
    const { streamer, broadcast } = await addBroadcast(ask, program, stationId, 'two')
    const body = { do: 'delete', rows: [broadcast] }
    await ask('POST', `station/${stationId}/streamer/${streamer}/broadcasts/batch`, body)
  },
  putBatchBroadcasts: async (ask, program, stationId) => {
    const { streamer, broadcast } = await addBroadcast(ask, program, stationId, 'three')
    const body = { do: 'delete', rows: [broadcast] }
    await ask('PUT', `station/${stationId}/streamer/${streamer}/broadcasts/batch`, body)
  }
}

async function addBroadcast(ask: Ask, { sql }: Program, stationId: number, name: string) {
  const { id: streamer } = await ask('POST', `station/${stationId}/streamers`, { streamer_username: name })
  const [broadcast] = await sql<{ id: number }[]>`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms)
    values (${stationId}, ${streamer}, ${name}, ${name}, 0, 1) returning id`
  return { streamer, broadcast: broadcast?.id }
}
