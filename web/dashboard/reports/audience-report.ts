import { html, nothing } from 'lit'

import { downloadFile } from '../api/call-api.ts'
import type {
  ReportAudienceAnswer,
  ReportAudienceByClientAnswer,
  ReportAudienceByCountryAnswer,
  ReportAudienceByListeningTimeAnswer,
  ReportAudienceByMountAnswer
} from '../api/responses.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { type FilterValues, filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { describeDuration, formatCount, formatNumber } from '../ui/text.ts'

/** The groups of sessions: the end of the path, the label of the choice, and the title of the column. */
const groupings = [
  ['', 'By day', 'Day'],
  ['/by-country', 'By country', 'Country'],
  ['/by-client', 'By program', 'Program'],
  ['/by-mount', 'By mount', 'Mount'],
  ['/by-listening-time', 'By length', 'Longer than']
] as const
type Grouping = (typeof groupings)[number][0]

const intervalMs = 300_000
const countryNames = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' })

/** Sessions of listeners in a period, in groups, with files of them and of royalties. */
export class AudienceReport extends StationElement {
  static override properties = reactiveProperties<AudienceReport>('filters')
  filters: FilterValues = { by: '' }

  readonly #audience = this.poll(() => `reports/audience?${this.#period()}`, intervalMs)
  readonly #groups = this.poll(() => {
    const grouping = this.#grouping()
    return grouping === '' ? null : (`reports/audience${grouping}?${this.#period()}` as const)
  }, intervalMs)
  readonly #actions = openActionRunner(this)

  #grouping(): Grouping {
    return groupings.find(([path]) => path === this.filters['by'])?.[0] ?? ''
  }

  #period(others: Readonly<Record<string, string>> = {}): string {
    const { by: _, ...period } = this.filters
    return renderQueryString({ ...period, ...others })
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

  #valueView({ sessions, listening_hours, average_seconds, peak, days }: ReportAudienceAnswer) {
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

type Group =
  | ReportAudienceByCountryAnswer[number]
  | ReportAudienceByClientAnswer[number]
  | ReportAudienceByMountAnswer[number]
  | ReportAudienceByListeningTimeAnswer[number]

function nameGroup(group: Group): string {
  if ('from_seconds' in group) return describeDuration(group.from_seconds)
  if ('client' in group) return group.client
  if ('mount' in group) return group.mount
  return group.country === '' ? 'Unknown' : (countryNames.of(group.country) ?? group.country)
}
