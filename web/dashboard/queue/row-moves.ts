import type { ReactiveControllerHost } from 'lit'

import { callApi } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'
import { showErrorNotice } from '../ui/actions.ts'
import { moveElement, type MovableRow } from './row-order.ts'

/**
 * Moves rows of a queue. The host shows a move at once; the requests are sent one after the other. After the
 * last one, `refresh` reads the order from the server. `queuePath` is the path of the queue in the API.
 */
export function openRowMoves(
  host: ReactiveControllerHost & EventTarget,
  queuePath: () => `${StationPath}/queue`,
  refresh: () => Promise<void>
) {
  let order: readonly string[] | null = null
  let last: Promise<void> = Promise.resolve()
  let pending = 0

  async function send(id: string, position: number): Promise<void> {
    try {
      await callApi('PUT', `${queuePath()}/${id}/move`, { body: { position } })
    } catch (error) {
      showErrorNotice(host, error)
    }
    pending--
    if (pending > 0) return
    await refresh()
    // Another move may have started meanwhile.
    if (pending > 0) return
    order = null
    host.requestUpdate()
  }

  return {
    /** Returns the rows in the order that they have once all moves are done. */
    applyPending<Each extends MovableRow>(rows: readonly Each[]): readonly Each[] {
      if (order === null) return rows
      const indexes = new Map(order.map((id, index) => [id, index]))
      const indexOf = ({ id }: MovableRow) => indexes.get(id) ?? Infinity
      return rows.toSorted((one, other) => indexOf(one) - indexOf(other))
    },
    /** Moves a row to another index. `count` is the length of the queue, which may be longer than `rows`. */
    move(rows: readonly MovableRow[], from: number, to: number, count: number): void {
      const row = rows[from]
      if (row === undefined || from === to || to < 0 || to >= count) return
      order = moveElement(rows, from, to).map(({ id }) => id)
      pending++
      last = last.then(() => send(row.id, to + 1))
      host.requestUpdate()
    }
  }
}
