import { html, nothing } from 'lit'

import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatMinuteOfDay } from '../ui/time.ts'
import { type ListenerProfile, profileListeners } from './listener-profile.ts'

/** The periods in days, with the seconds between their points: the API returns at most 1,500. */
const periods = [
  [7, 900],
  [28, 1_800],
  [56, 3_600]
] as const

const dayMs = 86_400_000

/** The listeners of the last weeks by day, hour of the day and weekday. */
export class ListenerOverview extends StationElement {
  static override properties = reactiveProperties<ListenerOverview>('period')
  /** The index of the period. */
  period = 1

  readonly #series = this.poll(
    () => {
      const [days, step] = periods[this.period] ?? periods[0]
      const start = this.clock.formatDate(Date.now() - (days - 1) * dayMs)
      return `listeners/series?start=${start}&step=${step}`
    },

    600_000
  )
  #profile: { readonly of: unknown; readonly profile: ListenerProfile } | null = null

  protected override render() {
    const profile = this.#findProfile()
    const select = html`<select class="field period" aria-label="Period" @change=${this.#onPeriod}>
      ${periods.map(
        ([days], index) =>
          html`<option .selected=${index === this.period}>
            The last ${days / 7 === 1 ? 'week' : `${days / 7} weeks`}
          </option>`
      )}
    </select>`
    const isEmpty = profile?.days.length === 0
    return panelView(
      {
        id: 'listener-overview',
        title: 'Listeners',
        resource: this.#series,
        emptyText: isEmpty ? 'No listeners were counted in this period.' : '',
        actions: select
      },
      profile === null || isEmpty
        ? nothing
        : html`<div class="charts">
            <bar-chart
              .title=${'By day'}
              .groups=${profile.days}
              .describe=${describeDay}
              .shorten=${shortenDay}
            ></bar-chart>
            <bar-chart
              .title=${'By hour of the day'}
              .groups=${profile.hours}
              .describe=${describeHour}
              .shorten=${describeHour}
            ></bar-chart>
            <bar-chart
              .title=${'By weekday'}
              .groups=${profile.weekdays}
              .describe=${describeWeekday}
              .shorten=${shortenWeekday}
            ></bar-chart>
          </div>`
    )
  }

  /** The groups of the last response; the same object as long as that is the same. */
  #findProfile(): ListenerProfile | null {
    const { value } = this.#series
    if (value === null) return null
    if (this.#profile?.of !== value)
      this.#profile = { of: value, profile: profileListeners(value, this.clock) }
    return this.#profile.profile
  }

  readonly #onPeriod = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement) this.period = target.selectedIndex
  }
}

const formatDate = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', ...options })
  return (date: string) => format.format(new Date(`${date}T00:00:00Z`))
}
const describeDay = formatDate({ weekday: 'short', day: 'numeric', month: 'long' })
const shortenDay = formatDate({ day: 'numeric', month: 'numeric' })
const describeHour = (hour: string) => formatMinuteOfDay(Number(hour) * 60)

const formatWeekday = (weekday: 'long' | 'short') => {
  const format = formatDate({ weekday })
  // A Monday was on 2024-01-01.
  return (day: string) => format(`2024-01-0${day}`)
}
const describeWeekday = formatWeekday('long')
const shortenWeekday = formatWeekday('short')
