import * as v from 'valibot'

/** What of a row of the queue is shown, `api/station/{id}/queue`. */
export const queueItems = v.object({
  total: v.number(),
  rows: v.array(
    v.pipe(
      v.object({
        played_at: v.number(),
        duration: v.number(),
        playlist: v.string(),
        is_request: v.boolean(),
        sent_to_autodj: v.boolean(),
        song: v.object({ title: v.string(), artist: v.string(), text: v.string(), art: v.string() }),
        links: v.object({ self: v.string() }),
        log: v.array(v.unknown())
      }),
      // A row tells its id by its address only.
      v.transform(({ links, ...row }) => ({ ...row, id: links.self.slice(links.self.lastIndexOf('/') + 1) }))
    )
  )
})

export type QueueItem = v.InferOutput<typeof queueItems>['rows'][number]

/** Where it comes from, in words. */
export function sourceOf({ is_request: isRequest, playlist }: QueueItem): string {
  if (isRequest) return 'Request'
  return playlist === '' ? 'By hand' : playlist
}
