import type { ReactiveControllerHost } from 'lit'

import type { Form } from '../forms/form-controller.ts'
import { focusHeading } from '../ui/focus.ts'
import { isolateBidi } from '../ui/text.ts'
import type { ScheduleOwner, Schedules } from './edited-schedules.ts'
import type { ApiScheduleItem } from './schedule-item.ts'
import { formatScheduleItem } from './schedule-text.ts'

/** One schedule item of an owner. */
export interface ScheduleItemPlace {
  readonly owner: ScheduleOwner
  readonly index: number
}

/** Identifies a schedule item: `playlist/3 0`. */
export const schedulePlaceKey = (ownerKey: string, index: number) => `${ownerKey} ${index}`

/** The key of the owner in the key of a place. */
export const ownerKeyOf = (place: string): string => place.split(' ')[0] ?? ''

interface EditorOptions {
  readonly owners: () => readonly ScheduleOwner[]
  readonly canEdit: (owner: ScheduleOwner) => boolean
}

export type ScheduleEditor = ReturnType<typeof openScheduleEditor>

/** Edits the schedules in a form, and keeps the selected item. The host is updated with each change. */
export function openScheduleEditor(
  host: ReactiveControllerHost & HTMLElement,
  form: Form<Schedules>,
  { owners, canEdit }: EditorOptions
) {
  let selected = ''
  let announcement = ''
  /** The item that a pointer moves, resizes or draws, as it would be stored. */
  let preview: (ScheduleItemPlace & { readonly item: ApiScheduleItem }) | null = null
  /** The block, or its form, that gets the focus after the next update. */
  let focus: { readonly place: string; readonly date: string; readonly isForm: boolean } | null = null

  /** The schedule of an owner with its edits. */
  const itemsOf = ({ key, items }: ScheduleOwner) => form.edited[key] ?? items

  function findPlace(key: string): ScheduleItemPlace | null {
    const owner = owners().find(each => each.key === ownerKeyOf(key))
    return owner ? { owner, index: Number(key.split(' ')[1]) } : null
  }

  function find(key: string): (ScheduleItemPlace & { readonly item: ApiScheduleItem }) | null {
    const place = findPlace(key)
    const item = place && itemsOf(place.owner)[place.index]
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
    itemsOf,
    /** The key of the item in the form; '' for none. */
    get selected() {
      return selected
    },
    /** The result of the last change, for screen readers. */
    get announcement() {
      return announcement
    },
    /** The items of an owner with edits, and with the one that a pointer is changing. */
    shownItems(owner: ScheduleOwner): readonly ApiScheduleItem[] {
      const items = itemsOf(owner)
      return preview?.owner.key === owner.key ? withItem(items, preview.index, preview.item) : items
    },
    find,
    /** The item with a key; null if there is none, or it may not be edited. */
    findEditable(key: string) {
      const found = find(key)
      return found && canEdit(found.owner) ? found : null
    },
    preview(place: ScheduleItemPlace, item: ApiScheduleItem): void {
      preview = { ...place, item }
      host.requestUpdate()
    },
    /** Ends the preview. Returns its item; null if there was none. */
    endPreview(): ApiScheduleItem | null {
      const item = preview?.item ?? null
      preview = null
      host.requestUpdate()
      return item
    },
    store({ owner, index }: ScheduleItemPlace, item: ApiScheduleItem): void {
      form.set(owner.key, withItem(itemsOf(owner), index, item))
    },
    /** Removes an item, and moves the focus to another one of its owner. */
    remove({ owner, index }: ScheduleItemPlace): void {
      const rest = itemsOf(owner).toSpliced(index, 1)
      form.set(owner.key, rest)
      selected = ''
      focus = {
        place: schedulePlaceKey(owner.key, Math.min(index, rest.length - 1)),
        date: '',
        isForm: false
      }
      announcement = `${isolateBidi(owner.name)}: period removed`
      host.requestUpdate()
    },
    /** Selects an item by its key; '' for none. */
    select(key: string): void {
      selected = key
      host.requestUpdate()
    },
    /** Selects an item, announces it, and moves the focus to its block on a date, or to its form. */
    reveal({ owner, index }: ScheduleItemPlace, date: string, { isForm = false } = {}): void {
      const place = schedulePlaceKey(owner.key, index)
      selected = place
      focus = { place, date, isForm }
      const item = itemsOf(owner)[index]
      if (item) announcement = `${isolateBidi(owner.name)}: ${formatScheduleItem(item)}`
      host.requestUpdate()
    }
  }
}

const withItem = (
  items: readonly ApiScheduleItem[],
  index: number,
  item: ApiScheduleItem
): ApiScheduleItem[] => (index < items.length ? items.with(index, item) : [...items, item])
