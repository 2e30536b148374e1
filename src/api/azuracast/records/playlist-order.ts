import { isJsonBody, type OperationDialect } from '../record-dialect.ts'

type OrderedSong = { readonly media_id: number; readonly position: number; readonly length: number }

/** A playlist has a song once, so that an entry has the id of its song. */
export const getPlaylistOrder: OperationDialect<readonly OrderedSong[]> = {
  reply: (songs, { stationLink }) =>
    songs.map(({ media_id: id, position, ...song }) => ({
      id,
      weight: position,
      is_queued: true,
      last_played: 0,
      media: { id, ...song, links: { play: stationLink(`file/${id}/play`) } }
    }))
}

/** AzuraCast takes the position of each entry, and answers them. */
export const reorderPlaylist: OperationDialect = {
  parse(body) {
    const { order } = body
    if (!isJsonBody(order)) return body
    const sorted = Object.entries(order).toSorted(([, a], [, b]) => Number(a) - Number(b))
    return { ...body, order: sorted.map(([id]) => id) }
  },
  reply: (_, { request: { body } }) => (isJsonBody(body) ? body['order'] : null)
}
