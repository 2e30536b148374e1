import { html, nothing } from 'lit'

import type { ApiRequestError } from '../api/api-error.ts'
import { tableView } from '../ui/controls.ts'
import { formatCount, formatNumber } from '../ui/text.ts'
import type { ZoneClock } from '../ui/time.ts'
import type { Simulation, SimulationNote } from './simulation.ts'

interface SimulationState {
  readonly value: Simulation | null
  readonly error: ApiRequestError | null
  readonly isRunning: boolean
}

/** Maximum number of blocks that are listed for a day. */
const maxListed = 300

/** What would play, with the warnings and the aims that are missed. `nameOf` names a playlist. */
export function simulationView(
  { value, error, isRunning }: SimulationState,
  clock: ZoneClock,
  nameOf: (playlistId: number) => string
) {
  return html`<section class="panel simulation" aria-labelledby="simulation" aria-busy=${isRunning}>
    <h2 class="heading" id="simulation">What would play</h2>
    <p class="quiet" role="status">${isRunning ? 'Simulating…' : value === null ? '' : describe(value)}</p>
    ${error === null ? nothing : html`<p class="trouble">${error.message}</p>`}
    ${
      value === null
        ? nothing
        : html`
            ${notesView('Warnings', value.warnings, nameOf)} ${notesView('Missed', value.missed, nameOf)}
            <div class="scroll">
              ${tableView(
                ['Playlist', ['Plays', 'count'], ['Hours', 'count']],
                value.playlists.map(
                  each =>
                    html`<tr>
                      <td class="row-title">${each.name}</td>
                      <td class="count">${formatNumber(each.plays)}</td>
                      <td class="count">${(each.seconds / 3_600).toFixed(1)}</td>
                    </tr>`
                )
              )}
            </div>
            ${groupByDay(value, clock).map(([date, blocks]) => dayView(date, blocks, clock))}
          `
    }
  </section>`
}

function describe({ plays, silent_seconds: silent, is_complete: isComplete }: Simulation): string {
  const silence = silent > 0 ? `, ${formatCount(Math.ceil(silent / 60), 'minute')} of silence` : ''
  return `${formatCount(plays, 'play')}${silence}.${isComplete ? '' : ' The simulation ended early: it took too long.'}`
}

function notesView(title: string, notes: readonly SimulationNote[], nameOf: (playlistId: number) => string) {
  if (notes.length === 0) return nothing
  return html`<h3 class="simulation-title">${title}</h3>
    <ul class="simulation-notes">
      ${notes.map(({ playlist_id: id, code, message }) => {
        const name = id === null ? '' : nameOf(id)
        return html`<li data-code=${code}>
          ${name === '' ? nothing : html`<bdi class="row-title">${name}</bdi>: `}${message}
        </li>`
      })}
    </ul>`
}

type Block = Simulation['blocks'][number]

function groupByDay({ blocks }: Simulation, clock: ZoneClock): [string, Block[]][] {
  const days = new Map<string, Block[]>()
  for (const block of blocks) {
    const date = clock.formatDate(block.from * 1_000)
    const day = days.get(date)
    if (day) day.push(block)
    else days.set(date, [block])
  }
  return [...days]
}

function dayView(date: string, blocks: readonly Block[], clock: ZoneClock) {
  const rest = blocks.length - maxListed
  return html`<details class="simulation-day">
    <summary>${date}: ${formatCount(blocks.length, 'change')} of playlist</summary>
    <ol>
      ${blocks.slice(0, maxListed).map(
        ({ from, name, songs }) =>
          html`<li>
            <time>${clock.formatTime(from)}</time> <bdi>${name}</bdi>
            <span class="quiet">${songs > 1 ? formatCount(songs, 'song') : ''}</span>
          </li>`
      )}
    </ol>
    ${rest > 0 ? html`<p class="quiet">and ${formatNumber(rest)} more</p>` : nothing}
  </details>`
}
