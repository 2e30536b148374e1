import { html, nothing, type PropertyValues } from 'lit'

import { callAction, callApi } from '../api/call-api.ts'
import type { Playlist } from '../api/responses.ts'
import { describePlaylistFrequency, formatScheduleItem } from '../schedule/schedule-text.ts'
import { watchSimulation } from '../schedule/simulation.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, type Chip, chipView, tableView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { stationLink } from '../ui/route.ts'
import { formatCount, isolateBidi } from '../ui/text.ts'
import { requestPlaylistCopy } from './copy-playlist.ts'
import { playlistSavedEvent } from './playlist-form.ts'
import { playlistSongsChangedEvent } from './playlist-songs.ts'

/** The playlists of a station with warnings, and the editor of one of them. */
export class PlaylistList extends StationElement {
  static override properties = reactiveProperties<PlaylistList>('canManage', 'item', 'songChanges')
  declare canManage: boolean
  /** The playlist in the editor: its id, or `new`; '' if the address names none. */
  declare item: string
  /** Counts changes of songs, after which the playlist is simulated again. */
  songChanges = 0

  readonly #playlists = this.poll('playlists', 15_000)
  readonly #actions = openActionRunner(this)
  readonly #simulation = watchSimulation(
    this,
    () => this.path,
    () => (this.#playlists.value === null || this.item !== '' ? null : { days: 7, from: '', playlists: [] })
  )

  constructor() {
    super()
    this.addEventListener(playlistSongsChangedEvent, () => this.songChanges++)
    this.addEventListener(playlistSavedEvent, event => {
      if (!(event instanceof CustomEvent)) return
      void this.#showSaved(event.detail)
    })
  }

  protected override render() {
    const { item } = this
    const record = this.#playlists.value?.find(({ id }) => String(id) === item) ?? null
    if (item !== 'new' && record === null) return this.#listView()
    return html`<div class="stack">
      <section class="panel" aria-labelledby="playlist">
        <h2 class="heading" id="playlist" tabindex="-1"><bdi>${record?.name ?? 'New playlist'}</bdi></h2>
        <playlist-form
          .station=${this.station}
          .record=${record}
          .refreshKey=${String(this.songChanges)}
          .canManage=${this.canManage}
          .otherNames=${(this.#playlists.value ?? []).filter(each => each !== record).map(({ name }) => name)}
          .close=${() => location.replace(this.#linkTo(''))}
        ></playlist-form>
      </section>
      ${
        record?.source === 'songs'
          ? html`<playlist-folders
                .station=${this.station}
                .playlistId=${record.id}
                .canManage=${this.canManage}
              ></playlist-folders>
              <playlist-songs
                .station=${this.station}
                .playlistId=${record.id}
                .name=${record.name}
                .canManage=${this.canManage}
                .refreshKey=${String(this.songChanges)}
              ></playlist-songs>`
          : nothing
      }
    </div>`
  }

  #linkTo(item: string): string {
    return stationLink(String(this.station), 'playlists', item)
  }

  /** Also shows the saved values, and the songs of a new playlist. */
  async #showSaved(id: unknown): Promise<void> {
    await this.#playlists.refresh()
    if (this.item === 'new' && typeof id === 'number') location.replace(this.#linkTo(String(id)))
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('item') || changed.get('item') === undefined) return
    scrollTo(0, 0)
    const heading = this.querySelector<HTMLElement>('#playlist') ?? document.querySelector('h1')
    heading?.focus({ preventScroll: true })
  }

  #listView() {
    const { value } = this.#playlists
    const emptyText = value?.length === 0 ? 'There are no playlists yet.' : ''
    const warnings = this.#simulation.value?.warnings.filter(({ playlist_id: id }) => id === null) ?? []
    return panelView(
      {
        id: 'playlists',
        title: 'Playlists',
        resource: this.#playlists,
        emptyText,
        actions: this.canManage
          ? buttonView('Create', () => {
              location.hash = this.#linkTo('new')
            })
          : nothing
      },
      html`${
        this.item !== '' && value !== null
          ? html`<p class="trouble" role="alert">The playlist does not exist.</p>`
          : nothing
      }
      ${warnings.map(({ message }) => html`<p class="trouble">${message}</p>`)}
      ${
        value?.length
          ? html`<div class="scroll playlist-table">
              ${tableView(
                ['Name', 'Plays', ['Order', 'wide'], 'State', ''],
                value.map(playlist => this.#rowView(playlist))
              )}
            </div>`
          : nothing
      }`
    )
  }

  #rowView(playlist: Playlist) {
    const { id, name } = playlist
    const notes = [...(this.#simulation.value?.warnings ?? []), ...(this.#simulation.value?.missed ?? [])]
    return html`<tr>
      <td class="row-title">
        <a href=${this.#linkTo(String(id))}><bdi>${name}</bdi></a>
      </td>
      <td>
        <p>${describePlaylistFrequency(playlist)}</p>
        ${playlist.schedule_items.map(item => html`<p class="quiet">${formatScheduleItem(item)}</p>`)}
        ${notes
          .filter(({ playlist_id: own }) => own === id)
          .map(({ code, message }) => html`<p class="trouble" data-code=${code}>${message}</p>`)}
      </td>
      <td class="wide quiet">${orders[playlist.order] ?? playlist.order}</td>
      <td>${chipView(stateChip(playlist))}</td>
      <td>${this.canManage ? this.#menuView(playlist) : nothing}</td>
    </tr>`
  }

  #menuView(playlist: Playlist) {
    const { id, name, is_enabled: isEnabled, source } = playlist
    const isDisabled = this.#actions.inFlight !== null
    const title = isolateBidi(name)
    const refresh = () => this.#playlists.refresh()
    const button = (text: string, work: () => unknown) =>
      buttonView(text, work, { style: 'link', label: `${text} “${title}”`, isDisabled })
    const call = (action: 'toggle' | 'reshuffle') =>
      this.#actions.run(action, () => callAction('PUT', `${this.path}/playlist/${id}/${action}`, { refresh }))
    return html`<details class="playlist-menu">
      <summary aria-label="Actions for “${title}”">Actions</summary>
      <div class="playlist-menu-items">
        ${button(isEnabled ? 'Disable' : 'Enable', () => call('toggle'))}
        ${button('Copy', () =>
          this.#actions.run('copy', async () => {
            const message = await requestPlaylistCopy(this.path, playlist)
            await refresh()
            return message
          })
        )}
        ${source === 'songs' ? button('Reshuffle', () => call('reshuffle')) : nothing}
        ${source === 'songs' ? button('Empty', () => this.#empty(playlist)) : nothing}
        ${button('Delete', () => this.#delete(playlist))}
      </div>
    </details>`
  }

  async #countSongs(id: number): Promise<number> {
    return (await callApi('GET', `${this.path}/playlist/${id}/order`)).length
  }

  async #empty({ id, name }: Playlist): Promise<void> {
    const count = await this.#countSongs(id).catch(() => 0)
    await this.#actions.run(
      'empty',
      () => callAction('DELETE', `${this.path}/playlist/${id}/empty`, { refresh: this.#playlists.refresh }),
      {
        title: `Empty “${isolateBidi(name)}”?`,
        text: `${formatCount(count, 'song')} are removed from the playlist, with their order, except those of its folders. They remain in the library.`,
        verb: 'Empty'
      }
    )
  }

  async #delete({ id, name, schedule_items: items }: Playlist): Promise<void> {
    const count = await this.#countSongs(id).catch(() => 0)
    await this.#actions.run(
      'delete',
      () => callAction('DELETE', `${this.path}/playlist/${id}`, { refresh: this.#playlists.refresh }),
      {
        title: `Delete “${isolateBidi(name)}”?`,
        text: `Its settings, the order of ${formatCount(count, 'song')} and ${formatCount(items.length, 'scheduled period')} are lost. The songs remain in the library, but leave the queue.`,
        verb: 'Delete'
      }
    )
  }
}

const orders: Readonly<Record<string, string>> = {
  shuffle: 'Shuffled',
  random: 'Random',
  sequential: 'Sequential'
}

function stateChip({ is_enabled: isEnabled, is_jingle: isJingle }: Playlist): Chip {
  if (!isEnabled) return { text: 'Disabled', tone: 'neutral' }
  return { text: isJingle ? 'Enabled, jingles' : 'Enabled', tone: 'good' }
}
