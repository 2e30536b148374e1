import type { ReactiveControllerHost } from 'lit'

import { callApi, done } from '../api/call-api.ts'
import { notify, refusalNotice } from '../ui/notice.ts'
import { moved } from './drop-place.ts'

export interface QueueMoves {
  /** The rows as they will be once all moves are done. */
  readonly ordered: <Row extends { readonly id: string }>(rows: readonly Row[]) => readonly Row[]
  /**
   * Moves one of the rows, in the order that is shown; there are `places` places for them, more than rows
   * perhaps.
   */
  readonly move: (rows: readonly { readonly id: string }[], from: number, to: number, places: number) => void
}

/**
 * Moves rows of a queue. They are shown at their new places at once, and told to the server one after the
 * other; then, or when one of them is refused, `readAgain` brings the truth.
 */
export function movesFor(
  host: ReactiveControllerHost & EventTarget,
  station: () => string,
  readAgain: () => Promise<void>
): QueueMoves {
  let order: readonly string[] | null = null
  let last: Promise<void> = Promise.resolve()
  let left = 0

  async function tell(id: string, position: number): Promise<void> {
    const path = `api/station/${encodeURIComponent(station())}/queue/${id}/move`
    try {
      await callApi(done, path, { method: 'PUT', body: { position } })
    } catch (error) {
      notify(host, refusalNotice(error))
    }
    left--
    if (left > 0) return
    await readAgain()
    // Another move may have begun meanwhile.
    if (left > 0) return
    order = null
    host.requestUpdate()
  }

  return {
    ordered: rows => {
      if (order === null) return rows
      const places = new Map(order.map((id, place) => [id, place]))
      const placeOf = ({ id }: { readonly id: string }) => places.get(id) ?? Infinity
      return rows.toSorted((one, other) => placeOf(one) - placeOf(other))
    },
    move: (rows, from, to, places) => {
      const row = rows[from]
      if (row === undefined || from === to || to < 0 || to >= places) return
      order = moved(rows, from, to).map(({ id }) => id)
      left++
      last = last.then(() => tell(row.id, to + 1))
      host.requestUpdate()
    }
  }
}
