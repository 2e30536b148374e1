import type { ReactiveControllerHost } from 'lit'

import { ApiRequestError, type FieldProblem, toApiRequestError } from '../api/api-error.ts'
import { type ActionRunner, confirmAction, showNotice, openActionRunner } from '../ui/actions.ts'
import { guardUnsavedChanges } from '../ui/unsaved-changes.ts'
import {
  type FieldLabel,
  findFieldOfProblem,
  fieldLabelInSentence,
  splitProblemsByField
} from './field-problems.ts'
import { openFormEdits } from './form-edits.ts'

interface FormOptions<Values extends object> {
  /** The stored values, or those of a new record. Evaluated at every use. */
  readonly start: () => Values
  /** The fields that show their problems. The problems of others are those of the form. */
  readonly fields: () => readonly FieldLabel[]
  /** Describes the problem of a field; by default, its message begins with the label. */
  readonly describe?: (label: string, problem: FieldProblem) => string
  /** Whether the host shows `problem`. By default, the operator is notified of it. */
  readonly showsProblem?: boolean
  /** Whether the operator is asked before changes are lost; by default, yes. */
  readonly isGuarded?: boolean
  /** The runner of the other actions of the host: one is in flight at a time. */
  readonly actions?: ActionRunner
}

export type Form<Values extends object> = ReturnType<typeof openForm<Values>>

/**
 * The state of a form: what was edited, whether it is being saved, and the problems of the last attempt. What
 * was edited stays until it is saved, whatever is read meanwhile. The host is updated with each change.
 */
export function openForm<Values extends object>(
  host: ReactiveControllerHost & HTMLElement,
  {
    start,
    fields,
    describe,
    showsProblem = false,
    isGuarded = true,
    actions = openActionRunner(host)
  }: FormOptions<Values>
) {
  const edits = openFormEdits(start)
  let problems: ReadonlyMap<string, string> = new Map()
  let problem = ''
  let isDetached = false
  let isBusy = false
  host.addEventListener('submit', event => event.preventDefault())
  if (isGuarded) guardUnsavedChanges(host, () => form.hasChanges)

  /** Asks before the changes overwrite what someone else has changed since they began. */
  async function confirmOverwrite(stored: Partial<Values>): Promise<void> {
    const names = edits
      .listConflicts(stored)
      .map(name => fieldLabelInSentence(fields(), name))
      .join(', ')
    if (names === '') return
    const text = `${names}: the stored values are no longer those that you have edited. Yours overwrite them.`
    const verb = 'Save anyway'
    if (await confirmAction({ title: 'Someone changed this meanwhile', text, verb })) return
    throw new ApiRequestError(
      `Not saved: someone changed ${names} meanwhile. Open the form again to see the new values.`
    )
  }

  /** Shows each problem at its field and moves the focus to the first one. */
  function showProblems(error: unknown): void {
    const apiError = toApiRequestError(error)
    const { ofFields, rest } = splitProblemsByField(apiError, fields(), describe)
    problems = ofFields
    isDetached = apiError.status === 404
    if (showsProblem) problem = rest
    else if (rest !== '')
      showNotice(host, { text: rest, isError: true, isConnectionError: apiError.status === 0 })
    host.requestUpdate()
    void host.updateComplete.then(() => {
      const first = host.querySelector<HTMLElement>('[aria-invalid=true]')
      const group = first?.closest('details')
      if (group) group.open = true
      first?.focus()
    })
  }

  const form = {
    /** The start of the ids of its fields. */
    id: host.localName,
    labelOf: (name: string): string => findFieldOfProblem(fields(), name)?.label ?? name,
    /** The values of the edited fields, also of those that are not shown now. */
    get edited(): Partial<Values> {
      return edits.edited
    },
    /** The values as in the form. */
    get values(): Values {
      return edits.values
    },
    /** The edited values of the fields that are shown. */
    get changes(): Partial<Values> {
      return edits.changes
    },
    get hasChanges(): boolean {
      return Object.keys(form.changes).length > 0
    },
    /** Whether it is being saved. */
    get isBusy() {
      return isBusy
    },
    /** Whether the server did not find the record: someone has deleted it. */
    get isGone() {
      return isDetached
    },
    /** The problem that belongs to no field; '' if there is none, or the operator was notified of it. */
    get problem() {
      return problem
    },
    /** The problem of a field; '' if there is none. */
    problemOf: (name: string): string => problems.get(name) ?? '',
    set<Name extends keyof Values>(name: Name, value: Values[Name]): void {
      edits.set(name, value)
      host.requestUpdate()
    },
    listConflicts: (stored: Partial<Values>): string[] => edits.listConflicts(stored),
    /** Forgets the edits of some fields that `save` has stored, if it could not store all. */
    forgetSaved: (names: readonly (keyof Values)[]): void => edits.forgetSaved(names),
    /** Forgets the edits of some fields. */
    forget(names: readonly (keyof Values)[]): void {
      edits.forget(names)
      host.requestUpdate()
    },
    /** Forgets the changes and the problems. */
    reset(): void {
      edits.forget()
      problems = new Map()
      problem = ''
      isDetached = false
      host.requestUpdate()
    },
    /**
     * Saves the form, unless an action is in flight. `save` returns a message for the operator, '' for none;
     * null if the operator canceled it. With `load`, which reads the stored values again, the operator is asked
     * before changes of someone else are overwritten. Returns whether it was saved.
     */
    async submit(
      save: () => Promise<string | null>,
      load?: () => Promise<Partial<Values>>
    ): Promise<boolean> {
      let isSaved = false
      await actions.run('save', async () => {
        edits.send()
        isBusy = true
        problems = new Map()
        problem = ''
        try {
          if (load !== undefined && form.hasChanges) await confirmOverwrite(await load())
          const message = await save()
          if (message === null) return ''
          edits.forgetSaved()
          isSaved = true
          return message
        } catch (error) {
          showProblems(error)
          return ''
        } finally {
          isBusy = false
        }
      })
      return isSaved
    }
  }
  return form
}
