import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { watchPermissions } from '../api/permissions.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount } from '../ui/text.ts'
import { watchAddressedForm } from './addressed-form.ts'
import { openRecordForm, type RecordContext, removeRecord } from './record-actions.ts'
import { fillApiPath, recordIdOf, type RecordPage, recordsOfPage, type ResourceView } from './resource.ts'

const pageSize = 50
/** The search field appears from this number of records on. */
const minSearchable = 12
const searchDelayMs = 250

/** Dispatched after a record was created, changed or deleted. */
const recordsChangedEvent = 'cuewire-records-changed'

/** The records of a resource: list, search, create, edit, copy and delete. */
export class ResourceList extends LightElement {
  static override properties = reactiveProperties<ResourceList>(
    'resource',
    'station',
    'item',
    'search',
    'page'
  )
  declare resource: ResourceView
  /** The short name or id of the station; '' for resources of the installation. */
  declare station: string
  /** The record in the form: its id, or `new`; '' if the address names none. */
  declare item: string
  /** The link to an item, or to the list. */
  declare linkTo: (item: string) => string
  search = ''
  page = 1
  #searchTimer: ReturnType<typeof setTimeout> | undefined

  readonly #permissions = watchPermissions(this, () => this.station)
  readonly #actions = openActionRunner(this)
  readonly #records = pollResource<string, RecordPage>(this, {
    path: () => {
      const query = new URLSearchParams({ page: String(this.page), per_page: String(pageSize) })
      if (this.search !== '') query.set('searchPhrase', this.search)
      return `${fillApiPath(this.resource.paths.list, this.station)}?${query.toString()}`
    },
    intervalMs: 15_000
  })

  constructor() {
    super()
    this.station = ''
    this.item = ''
    watchAddressedForm(this, {
      item: () => this.item,
      scene: () => this.#scene,
      mayOpen: item => {
        if (!this.#permissions.isKnown) return null
        const { write, canEdit = true } = this.resource
        return this.#permissions.allows(write) && (canEdit || item === 'new')
      },
      linkTo: item => this.linkTo(item)
    })
  }

  protected override render() {
    const { resource } = this
    const { value } = this.#records
    const rows = value === null ? [] : recordsOfPage(value, resource)
    const isEmpty = value !== null && rows.length === 0
    const emptyText = isEmpty ? (this.search === '' ? resource.emptyText : 'Nothing matches.') : ''
    const canWrite = this.#permissions.allows(resource.write)
    const add = canWrite
      ? buttonView(`New ${resource.noun}`, () => this.#open('new'), {
          isDisabled: this.#actions.inFlight !== null
        })
      : nothing
    const id = `list-${resource.noun.replaceAll(' ', '-')}`
    // The page has the title as its heading.
    const heading = value === null ? resource.title : formatCount(value.total, resource.noun)
    const titles = resource.columns.map(({ title, style = '' }) => [title, style] as const)
    return panelView(
      { id, title: heading, resource: this.#records, emptyText, actions: add },
      html`${(value?.total ?? 0) >= minSearchable || this.search !== '' ? this.#searchView() : nothing}
      ${
        rows.length === 0
          ? nothing
          : html`<div class="scroll" role="region" aria-label=${resource.title} tabindex="0">
              ${tableView(canWrite ? [...titles, ['', 'row-actions']] : titles, this.#rowsView(rows, canWrite))}
            </div>`
      }
      ${this.#pagesView(value?.total_pages ?? 1)}`
    )
  }

  #rowsView(rows: readonly ApiRecord[], canWrite: boolean) {
    return repeat(
      rows,
      record => recordIdOf(this.resource, record),
      record =>
        html`<tr>
          ${this.resource.columns.map(
            ({ view, style = '' }, index) =>
              html`<td class="${style} ${index === 0 ? 'row-title' : ''}">${view(record)}</td>`
          )}
          ${canWrite ? html`<td class="row-actions">${this.#rowActionsView(record)}</td>` : nothing}
        </tr>`
    )
  }

  #rowActionsView(record: ApiRecord) {
    const { resource } = this
    const { canEdit = true, toCopy, actions = [], canRemove, removal } = resource
    const name = resource.nameOf(record)
    const link = (text: string, onClick: () => unknown) =>
      buttonView(html`${text}<span class="visually-hidden"> ${name}</span>`, onClick, {
        style: 'link',
        isDisabled: this.#actions.inFlight !== null
      })
    return html`${canEdit ? link('Edit', () => this.#open(recordIdOf(resource, record))) : nothing}
    ${toCopy === undefined ? nothing : link('Copy', () => this.#copy(toCopy(record)))}
    ${actions.map(({ label, run }) =>
      link(label, () => this.#actions.run(label, () => run(record, this.station).then(this.#refreshWith)))
    )}
    ${canRemove?.(record) === false ? nothing : link(removal?.verb ?? 'Delete', () => this.#remove(record))}`
  }

  #searchView() {
    return html`<input
      class="field search"
      type="search"
      aria-label="Search"
      placeholder="Search"
      @input=${({ target }: Event) => {
        if (!(target instanceof HTMLInputElement)) return
        const { value } = target
        clearTimeout(this.#searchTimer)
        this.#searchTimer = setTimeout(() => {
          this.search = value.trim()
          this.page = 1
        }, searchDelayMs)
      }}
    />`
  }

  #pagesView(pages: number) {
    if (pages <= 1) return nothing
    return html`<p class="pages">
      ${buttonView('Previous', () => (this.page -= 1), { isDisabled: this.page <= 1 })}
      <span>Page ${this.page} of ${pages}</span>
      ${buttonView('Next', () => (this.page += 1), { isDisabled: this.page >= pages })}
    </p>`
  }

  readonly #refreshWith = async (message: string): Promise<string> => {
    await this.#records.refresh()
    this.dispatchEvent(new Event(recordsChangedEvent, { bubbles: true }))
    return message
  }

  get #scene(): RecordContext {
    const { resource, station } = this
    return { host: this, resource, station, refresh: () => this.#refreshWith('') }
  }

  #open(item: string): void {
    location.hash = this.linkTo(item)
  }

  #copy(start: ApiRecord): Promise<void> {
    return this.#actions.run('open', async () => {
      await openRecordForm(this.#scene, start, { isNew: true })
      return ''
    })
  }

  #remove(record: ApiRecord): Promise<void> {
    return removeRecord(this.#scene, this.#actions, record)
  }
}
