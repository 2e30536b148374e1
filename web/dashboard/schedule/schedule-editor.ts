import type { ReactiveControllerHost } from 'lit'

import { focusHeading } from '../ui/focus.ts'
import { isolateBidi } from '../ui/text.ts'
import { editSchedule, itemsOf, type ScheduleEdits, type ScheduleOwner } from './edited-schedules.ts'
import type { ScheduleItem } from './schedule-item.ts'
import { formatSchedule } from './schedule-text.ts'

/** One schedule item of an owner. */
export interface ItemPlace {
  readonly owner: ScheduleOwner
  readonly index: number
}

/** Identifies a schedule item: `playlist/3 0`. */
export const placeKey = (ownerKey: string, index: number) => `${ownerKey} ${index}`

/** The key of the owner in the key of a place. */
export const ownerKeyOf = (place: string): string => place.split(' ')[0] ?? ''

interface EditorOptions {
  readonly owners: () => readonly ScheduleOwner[]
  readonly canEdit: (owner: ScheduleOwner) => boolean
}

export type ScheduleEditor = ReturnType<typeof openScheduleEditor>

/** The unsaved schedules of a station and the selected item. The host is updated with each change. */
export function openScheduleEditor(
  host: ReactiveControllerHost & HTMLElement,
  { owners, canEdit }: EditorOptions
) {
  let edits: ScheduleEdits = new Map()
  /** The stored schedules with which the edits began. */
  let starts: ScheduleEdits = new Map()
  let selected = ''
  let announcement = ''
  /** The item that a pointer moves, resizes or draws, as it would be stored. */
  let preview: (ItemPlace & { readonly item: ScheduleItem }) | null = null
  /** The block, or its form, that gets the focus after the next update. */
  let focus: { readonly place: string; readonly date: string; readonly isForm: boolean } | null = null

  function edit(owner: ScheduleOwner, items: readonly ScheduleItem[]): void {
    if (!edits.has(owner.key)) starts = new Map(starts).set(owner.key, owner.items)
    edits = editSchedule(edits, owner, items)
  }

  function findPlace(key: string): ItemPlace | null {
    const owner = owners().find(each => each.key === ownerKeyOf(key))
    return owner ? { owner, index: Number(key.split(' ')[1]) } : null
  }

  function find(key: string): (ItemPlace & { readonly item: ScheduleItem }) | null {
    const place = findPlace(key)
    const item = place && itemsOf(place.owner, edits)[place.index]
    return place && item ? { ...place, item } : null
  }

  host.addController({
    hostUpdated: () => {
      if (focus === null) return
      const { place, date, isForm } = focus
      focus = null
      if (isForm) return host.querySelector<HTMLElement>('#item-start')?.focus()
      const blocks = [...host.querySelectorAll<HTMLElement>('.showing-button')].filter(
        ({ dataset }) => dataset['place'] === place
      )
      const block = blocks.find(({ dataset }) => dataset['date'] === date) ?? blocks[0]
      if (block) block.focus()
      else focusHeading(host.querySelector('.panel'))
    }
  })
  return {
    get edits() {
      return edits
    },
    /** The stored schedules with which the edits began. */
    get starts() {
      return starts
    },
    /** The key of the item in the form; '' for none. */
    get selected() {
      return selected
    },
    /** The result of the last change, for screen readers. */
    get announcement() {
      return announcement
    },
    /** The items of an owner with edits, and with the one that a pointer is changing. */
    shownItems(owner: ScheduleOwner): readonly ScheduleItem[] {
      const items = itemsOf(owner, edits)
      return preview?.owner.key === owner.key ? withItem(items, preview.index, preview.item) : items
    },
    find,
    /** The item with a key; null if there is none, or it may not be edited. */
    findEditable(key: string) {
      const found = find(key)
      return found && canEdit(found.owner) ? found : null
    },
    preview(place: ItemPlace, item: ScheduleItem): void {
      preview = { ...place, item }
      host.requestUpdate()
    },
    /** Ends the preview. Returns its item; null if there was none. */
    endPreview(): ScheduleItem | null {
      const item = preview?.item ?? null
      preview = null
      host.requestUpdate()
      return item
    },
    store({ owner, index }: ItemPlace, item: ScheduleItem): void {
      edit(owner, withItem(itemsOf(owner, edits), index, item))
      host.requestUpdate()
    },
    /** Removes an item, and moves the focus to another one of its owner. */
    remove({ owner, index }: ItemPlace): void {
      const rest = itemsOf(owner, edits).toSpliced(index, 1)
      edit(owner, rest)
      selected = ''
      focus = { place: placeKey(owner.key, Math.min(index, rest.length - 1)), date: '', isForm: false }
      announcement = `${isolateBidi(owner.name)}: period removed`
      host.requestUpdate()
    },
    /** Selects an item by its key; '' for none. */
    select(key: string): void {
      selected = key
      host.requestUpdate()
    },
    /** Selects an item, announces it, and moves the focus to its block on a date, or to its form. */
    reveal({ owner, index }: ItemPlace, date: string, { isForm = false } = {}): void {
      const place = placeKey(owner.key, index)
      selected = place
      focus = { place, date, isForm }
      const item = itemsOf(owner, edits)[index]
      if (item) announcement = `${isolateBidi(owner.name)}: ${formatSchedule(item)}`
      host.requestUpdate()
    },
    /**
     * Forgets the saved schedules after they were read again, unless they were edited again since they were
     * `sent`: then these edits go on from the saved ones.
     */
    forgetSaved(saved: readonly string[], sent: ScheduleEdits): void {
      starts = new Map([
        ...starts,
        ...owners().flatMap(({ key, items }) => (saved.includes(key) ? [[key, items] as const] : []))
      ])
      edits = new Map(
        Array.from(edits).filter(([key, items]) => !saved.includes(key) || sent.get(key) !== items)
      )
      host.requestUpdate()
    },
    /** Forgets the edits of some owners. */
    forget(keys: readonly string[]): void {
      edits = new Map(Array.from(edits).filter(([key]) => !keys.includes(key)))
      if (keys.includes(ownerKeyOf(selected))) selected = ''
      host.requestUpdate()
    },
    discard(): void {
      edits = new Map()
      selected = ''
      host.requestUpdate()
    }
  }
}

const withItem = (items: readonly ScheduleItem[], index: number, item: ScheduleItem): ScheduleItem[] =>
  index < items.length ? items.with(index, item) : [...items, item]
