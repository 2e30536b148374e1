import type { ReactiveControllerHost } from 'lit'

import { confirmAction, notify, openActionRunner } from '../ui/actions.ts'
import { formatCount } from '../ui/text.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { saveSchedules } from './edited-schedules.ts'
import type { ScheduleEditor } from './schedule-editor.ts'

interface SaverOptions {
  /** The path of the station in the API. */
  readonly path: () => string
  /** Reads the stored schedules again. */
  readonly refresh: () => Promise<unknown>
}

export type ScheduleSaver = ReturnType<typeof openScheduleSaver>

/** Saves and discards the edits of schedules, and asks before the page is left with unsaved ones. */
export function openScheduleSaver(
  host: ReactiveControllerHost & HTMLElement,
  editor: ScheduleEditor,
  { path, refresh }: SaverOptions
) {
  const actions = openActionRunner(host)
  let problems: ReadonlyMap<string, string> = new Map()
  guardChanges(host, () => editor.edits.size > 0)
  return {
    /** The problems of schedules that were not saved, by owner. */
    get problems() {
      return problems
    },
    get isSaving() {
      return actions.inFlight === 'save'
    },
    save: (): Promise<void> =>
      actions.run('save', async () => {
        const sent = editor.edits
        const result = await saveSchedules(path(), sent)
        await refresh()
        editor.forgetSaved(result.saved, sent)
        problems = result.problems
        if (problems.size === 0) return `${formatCount(result.saved.length, 'schedule')} saved.`
        notify(host, {
          text: `${result.saved.length} of ${result.saved.length + problems.size} schedules were saved.`,
          isError: true
        })
        return ''
      }),
    async discard(): Promise<void> {
      const text = 'The changes of the schedule that are not saved are lost.'
      if (!(await confirmAction({ title: 'Discard the changes?', text, verb: 'Discard' }))) return
      problems = new Map()
      editor.discard()
    }
  }
}
