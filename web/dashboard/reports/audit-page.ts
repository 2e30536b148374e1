import { html, nothing } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import type { AuditEntry } from '../api/responses.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { type FilterValues, filtersView } from '../ui/filters.ts'
import { addPageStyles, defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { auditKindNames } from './audit-kinds.ts'

import styles from './reports.css' with { type: 'text' }

const pageSize = 50
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** The changes of all people and API keys, newest first. */
class AuditPage extends LightElement {
  static override properties = reactiveProperties<AuditPage>('filters', 'pages')
  filters: FilterValues = {}
  /** The ids of the last changes of the pages before the one that is shown. */
  pages: readonly number[] = []

  readonly #entries = pollResource(this, {
    path: () => `api/admin/auditlog?per_page=${pageSize}&${this.#query()}`,
    intervalMs: 60_000
  })

  /** Days are those of this browser. */
  #query(): string {
    const { first = '', last = '', ...filters } = this.filters
    const since = first === '' ? '' : secondsOf(first)
    const until = last === '' ? '' : secondsOf(last, 1) - 1
    return renderQueryString({ ...filters, since, until, before: this.pages.at(-1) ?? '', page: 1 })
  }

  protected override render() {
    const { value } = this.#entries
    const rows = value?.rows ?? []
    return panelView(
      {
        id: 'audit',
        title: 'Changes',
        resource: this.#entries,
        emptyText: value?.rows.length === 0 ? 'There are no such changes.' : ''
      },
      html`${filtersView(
        'audit',
        'Filter the changes',
        [
          { name: 'first', label: 'First day', type: 'date' },
          { name: 'last', label: 'Last day', type: 'date' },
          {
            name: 'record',
            label: 'Kind of record',
            options: [['', 'All kinds'], ...kinds]
          },
          { name: 'record_id', label: 'Id of the record', type: 'text' },
          { name: 'key', label: 'By (person or API key)', type: 'text' },
          { name: 'station', label: 'Station (short name or id)', type: 'text' },
          { name: 'searchPhrase', label: 'Address contains', type: 'search' }
        ],
        values => {
          this.filters = values
          this.pages = []
        }
      )}
      ${
        rows.length === 0
          ? nothing
          : html`<div class="scroll" role="region" aria-label="Table of changes" tabindex="0">
              ${tableView(
                ['Time', 'By', 'Record', ['Fields', 'wide'], ['Request', 'wide']],
                rows.map(rowView)
              )}
            </div>`
      }
      ${this.#pagingView(rows.at(-1)?.id, (value?.total ?? 0) > rows.length)}`
    )
  }

  /**
   * Pages continue behind a change instead of counting, so that new changes move nothing, and the oldest are reached.
   */
  #pagingView(lastId: number | undefined, hasOlder: boolean) {
    if (this.pages.length === 0 && !hasOlder) return nothing
    const showOlder = () => {
      if (lastId !== undefined) this.pages = [...this.pages, lastId]
    }
    return html`<nav class="paging" aria-label="Pages">
      ${buttonView('Newer', () => (this.pages = this.pages.slice(0, -1)), { isDisabled: this.pages.length === 0 })}
      ${buttonView('Older', showOlder, { isDisabled: !hasOlder })}
    </nav>`
  }
}

const kinds = [...auditKindNames].toSorted(([, one], [, other]) => one.localeCompare(other))

/** The start of a day, or of a day after it, in Unix seconds. */
function secondsOf(day: string, daysLater = 0): number {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + daysLater)
  return Math.floor(date.getTime() / 1_000)
}

function rowView(entry: AuditEntry) {
  const { at, key, method, path, record, record_id: id, station_id: station, fields } = entry
  // A server of the former release does not send these.
  const later: Partial<AuditEntry> = entry
  const { record_name: name = '', station_name: stationName = '', changes: values = {} } = later
  const changes = fields.map(field => html`<div>${changeText(field, values[field])}</div>`)
  return html`<tr class="audit-row">
    <td class="row-time">${time.format(at * 1_000)}</td>
    <td>${key.name}</td>
    <td>
      ${auditKindNames.get(record) ?? record}
      ${id === '*' ? '(several)' : id}${name === '' ? nothing : ` “${name}”`}${
        station === 0 || record === 'Station'
          ? nothing
          : html`<br /><span class="quiet"
                >Station ${station}${stationName === '' ? '' : ` “${stationName}”`}</span
              >`
      }
      <div class="narrow quiet">${changes}</div>
      <p class="narrow quiet">${method} ${path}</p>
    </td>
    <td class="wide">${changes}</td>
    <td class="wide quiet">${method} ${path}</td>
  </tr>`
}

/** `weight: 3 → 7`, or only the name of the field if the values are not known. */
function changeText(field: string, change: AuditEntry['changes'][string] = 'changed'): string {
  if (typeof change === 'string') return field
  const { from, to } = change
  return `${field}: ${from === undefined ? '' : `${valueText(from)} → `}${valueText(to)}`
}

const longestValue = 100

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
}

addPageStyles(styles)
defineElements({ 'audit-page': AuditPage })
