export const isSameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/**
 * What was edited in a form. `start` returns the stored values, which may change at any time: it is evaluated
 * at every use. A field that is edited keeps the one with which its edit began.
 */
export function openFormEdits<Values extends object>(start: () => Values) {
  type Value = Values[keyof Values]
  const edits = new Map<keyof Values, { readonly before: Value; readonly value: Value }>()
  /** The edits that are being saved. */
  let sent: typeof edits = new Map()
  return {
    /** The values of the edited fields, also of those that the form does not show now. */
    get edited(): Partial<Values> {
      const values: Partial<Values> = {}
      for (const [name, { value }] of edits) values[name] = value
      return values
    },
    /** The values as in the form. */
    get values(): Values {
      return { ...start(), ...this.edited }
    },
    /** The edited values of the fields that the form shows. */
    get changes(): Partial<Values> {
      const values: Partial<Values> = {}
      const shown = start()
      for (const [name, { value }] of edits) if (name in shown) values[name] = value
      return values
    },
    /** Edits a field, or forgets its edit if the value is the one with which it began. */
    set<Name extends keyof Values>(name: Name, value: Values[Name]): void {
      const edit = edits.get(name)
      const before = edit === undefined ? start()[name] : edit.before
      if (isSameJson(value, before)) edits.delete(name)
      else edits.set(name, { before, value })
    },
    /** The edited fields whose stored values are not those with which their edits began. */
    listConflicts(stored: Partial<Values>): string[] {
      const names: string[] = []
      for (const name in this.changes)
        if (name in stored && !isSameJson(edits.get(name)?.before, stored[name])) names.push(name)
      return names
    },
    /** Remembers which edits are being saved. */
    send(): void {
      sent = new Map(edits)
    },
    /** Forgets edits that were sent. A field that was edited again since goes on from the stored value. */
    forgetSaved(names: Iterable<keyof Values> = sent.keys()): void {
      for (const name of names) {
        const edit = edits.get(name)
        if (edit === sent.get(name)) edits.delete(name)
        else if (edit !== undefined) edits.set(name, { ...edit, before: start()[name] })
      }
    },
    forget(names: Iterable<keyof Values> = edits.keys()): void {
      for (const name of names) edits.delete(name)
    }
  }
}
