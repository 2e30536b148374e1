import { ApiError } from '../api/api-error.ts'
import { confirmAction } from '../ui/actions.ts'
import { type ApiRecord, listChanged } from './form-values.ts'

interface Overwrite {
  /** What is going to be saved. */
  readonly body: ApiRecord
  /** The record with which the edit began. */
  readonly record: ApiRecord
  /** Reads the record again. */
  readonly load: () => Promise<ApiRecord>
  /** Returns what the form calls the members of the body. */
  readonly describe: (names: readonly string[]) => readonly string[] | Promise<readonly string[]>
}

/**
 * Asks before the body overwrites what someone else has changed since the edit began. Throws an `ApiError` if the
 * operator cancels.
 */
export async function confirmOverwrite({ body, record, load, describe }: Overwrite): Promise<void> {
  const changed = listChanged(body, record, await load())
  if (changed.length === 0) return
  const labels = (await describe(changed)).join(', ')
  const text = `${labels}: the stored values are no longer those that you have edited. Yours overwrite them.`
  const verb = 'Save anyway'
  if (await confirmAction({ title: 'Someone changed this meanwhile', text, verb })) return
  throw new ApiError(
    `Not saved: someone changed ${labels} meanwhile. Open the form again to see the new values.`
  )
}
