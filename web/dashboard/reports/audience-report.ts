import { html, nothing } from 'lit'
import * as v from 'valibot'

import { downloadFile } from '../api/call-api.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { type FilterValues, filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { toQuery } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { describeDuration, formatCount, formatNumber } from '../ui/text.ts'

const sums = { sessions: v.number(), listening_hours: v.number() }
const audienceSchema = v.object({
  ...sums,
  average_seconds: v.number(),
  counted_hours: v.number(),
  peak: v.number(),
  days: v.array(v.object({ date: v.string(), ...sums }))
})
const groupsSchema = v.array(
  v.object({
    country: v.optional(v.string()),
    client: v.optional(v.string()),
    mount: v.optional(v.string()),
    from_seconds: v.optional(v.number()),
    ...sums
  })
)
type Group = v.InferOutput<typeof groupsSchema>[number]

/** The groups of sessions: the end of the path, the label of the choice, and the title of the column. */
const groupings = [
  ['', 'By day', 'Day'],
  ['/by-country', 'By country', 'Country'],
  ['/by-client', 'By program', 'Program'],
  ['/by-mount', 'By mount', 'Mount'],
  ['/by-listening-time', 'By length', 'Longer than']
] as const

const intervalMs = 300_000
const countryNames = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' })

/** Sessions of listeners in a period, in groups, with files of them and of royalties. */
export class AudienceReport extends StationElement {
  static override properties = reactiveProperties<AudienceReport>('filters')
  filters: FilterValues = { by: '' }

  readonly #audience = this.poll(() => `reports/audience?${this.#period()}`, audienceSchema, intervalMs)
  readonly #groups = this.poll(
    () => (this.#grouping() === '' ? null : `reports/audience${this.#grouping()}?${this.#period()}`),
    groupsSchema,
    intervalMs
  )
  readonly #actions = openActionRunner(this)

  #grouping(): string {
    return this.filters['by'] ?? ''
  }

  #period(others: Readonly<Record<string, string>> = {}): string {
    const { by: _, ...period } = this.filters
    return toQuery({ ...period, ...others })
  }

  protected override render() {
    const { value } = this.#audience
    const isBusy = this.#actions.inFlight !== null
    const actions = html`${buttonView('Download CSV', () => this.#downloadGroups(), { style: 'link', isBusy })}
    ${buttonView('Royalties of last month', () => this.#downloadRoyalties(), { style: 'link', isBusy })}`
    return panelView(
      {
        id: 'audience-report',
        title: 'Audience',
        resource: this.#audience,
        emptyText: value?.sessions === 0 ? 'No sessions of listeners were recorded in this period.' : '',
        actions
      },
      html`${filtersView(
        'audience-report',
        'Filter the audience',
        [
          { name: 'start', label: 'First day', type: 'date' },
          { name: 'end', label: 'Last day', type: 'date' },
          { name: 'by', label: 'Groups', options: groupings.map(([path, label]) => [path, label] as const) }
        ],
        values => (this.filters = values)
      )}
      ${value === null || value.sessions === 0 ? nothing : this.#valueView(value)}`
    )
  }

  #valueView({
    sessions,
    listening_hours,
    average_seconds,
    peak,
    days
  }: v.InferOutput<typeof audienceSchema>) {
    const [, label, title] = groupings.find(([path]) => path === this.#grouping()) ?? groupings[0]
    const groups =
      this.#grouping() === ''
        ? days.toReversed().map(day => ({ ...day, name: day.date }))
        : this.#namedGroups()
    return html`<p role="status">
        ${formatCount(listening_hours, 'listening hour')} in ${formatCount(sessions, 'session')},
        ${describeDuration(average_seconds)} on average, peak ${formatNumber(peak)}
      </p>
      <div class="scroll" role="region" aria-label="Sessions ${label.toLowerCase()}" tabindex="0">
        ${tableView(
          [title, ['Sessions', 'count'], ['Hours', 'count']],
          groups.map(
            group =>
              html`<tr>
                <td class="main">${group.name}</td>
                <td class="count">${formatNumber(group.sessions)}</td>
                <td class="count">${formatNumber(group.listening_hours)}</td>
              </tr>`
          )
        )}
      </div>`
  }

  #namedGroups() {
    return (this.#groups.value ?? []).map(group => ({ ...group, name: nameGroup(group) }))
  }

  #downloadGroups(): Promise<void> {
    return this.#actions.run('download', async () => {
      const path = `${this.path}/reports/audience${this.#grouping()}?${this.#period({ format: 'csv' })}`
      await downloadFile(path, `${this.station}-audience.csv`)
      return ''
    })
  }

  #downloadRoyalties(): Promise<void> {
    return this.#actions.run('download', async () => {
      await downloadFile(`${this.path}/reports/soundexchange?format=csv`, `${this.station}-royalties.csv`)
      return ''
    })
  }
}

function nameGroup({ country, client, mount, from_seconds: seconds }: Group): string {
  if (country !== undefined) return country === '' ? 'Unknown' : (countryNames.of(country) ?? country)
  if (seconds !== undefined) return describeDuration(seconds)
  return client ?? mount ?? ''
}
