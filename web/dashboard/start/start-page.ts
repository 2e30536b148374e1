import { html, nothing } from 'lit'

import { callAction, callApi, serverBaseUrl } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { Station } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { MediaUpload } from '../media/upload/media-upload.ts'
import { playoutSetupView } from '../resources/playout-setup.ts'
import { openRecordForm } from '../resources/record-actions.ts'
import { stationsResourceView } from '../resources/stations.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, chipView } from '../ui/controls.ts'
import { addPageStyles, defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { stationLink } from '../ui/route.ts'
import { formatCount } from '../ui/text.ts'
import { readChosenStation, storeChosenStation } from './chosen-station.ts'
import { hasOpenedPlayer, storeOpenedPlayer } from './opened-players.ts'
import { type SetupProgress, setupSteps } from './setup-steps.ts'

import styles from './start.css' with { type: 'text' }

const intervalMs = 5_000
/** Enough for 100,000 songs. */
const rotationTimeoutMs = 60_000

/** Leads from an empty installation to a station that is heard. Each step reads from the API if it is done. */
class StartPage extends LightElement {
  static override properties = reactiveProperties<StartPage>('chosen')
  chosen = readChosenStation()
  readonly #actions = openActionRunner(this)
  readonly #stations = pollResource(this, {
    path: () => 'api/admin/stations',
    intervalMs
  })
  readonly #files = pollResource(this, {
    path: () => (this.#stationPath === null ? null : `${this.#stationPath}/files?per_page=500`),
    intervalMs
  })
  readonly #nowPlaying = pollResource(this, {
    path: () => (this.#station === null ? null : `api/nowplaying/${this.#station.id}`),
    intervalMs
  })

  /** The chosen station, else the one created last. */
  get #station(): Station | null {
    const all = this.#stations.value ?? []
    return all.find(({ id }) => id === this.chosen) ?? all.toSorted((a, b) => b.id - a.id)[0] ?? null
  }

  get #stationPath(): StationPath | null {
    return this.#station === null ? null : `api/station/${this.#station.id}`
  }

  get #progress(): SetupProgress {
    const files = this.#files.value
    const station = this.#station
    return {
      hasStation: station !== null,
      songs: files?.total ?? 0,
      hasPlaylist: files?.rows.some(({ playlists }) => playlists.length > 0) ?? false,
      isOnline: this.#nowPlaying.value?.is_online ?? false,
      isHeard:
        (station !== null && hasOpenedPlayer(station.id)) ||
        (this.#nowPlaying.value?.listeners.total ?? 0) > 0
    }
  }

  protected override render() {
    if (this.#stations.value === null) return loadStateView(this.#stations)
    const progress = this.#progress
    const done = setupSteps.filter(({ isDone }) => isDone(progress)).length
    const station = this.#station
    return html`<p class="overview-text">
        From an empty page to a station that is heard. You can leave at any time and continue later.
        ${formatCount(done, 'step')} of ${setupSteps.length} done.
      </p>
      ${this.#chooserView()}
      <ol class="start-steps">
        ${setupSteps.map(({ title, isDone }, index) => {
          const chip = isDone(progress)
            ? chipView({ text: 'Done', tone: 'good' })
            : chipView({ text: 'To do', tone: 'neutral' })
          return html`<li class="panel">
            <header class="panel-head">
              <h2 class="start-title">${index + 1}. ${title}</h2>
              ${chip}
            </header>
            ${index === 0 ? this.#nameView() : station === null ? laterView : this.#stepView(index, station)}
          </li>`
        })}
      </ol>`
  }

  #chooserView() {
    const all = this.#stations.value ?? []
    if (all.length < 2) return nothing
    return html`<p>
      <label for="start-station">Station</label>
      <select
        class="field start-station"
        id="start-station"
        @change=${({ target }: Event) => {
          if (target instanceof HTMLSelectElement) this.#choose(Number(target.value))
        }}
      >
        ${all.map(
          ({ id, name }) => html`<option value=${id} .selected=${id === this.#station?.id}>${name}</option>`
        )}
      </select>
    </p>`
  }

  #choose(id: number): void {
    this.chosen = id
    storeChosenStation(id)
  }

  #nameView() {
    const station = this.#station
    const create = () =>
      this.#actions.run('create', async () => {
        const scene = {
          host: this,
          resource: stationsResourceView,
          station: '',
          refresh: this.#stations.refresh,
          onCreated: (created: ApiRecord) => this.#choose(Number(created['id']))
        }
        await openRecordForm(scene, null, { isNew: true })
        return ''
      })
    return html`<p>
        ${
          station === null
            ? 'Listeners see its name. The time zone is that of its schedule.'
            : html`<a href=${stationLink(station.short_name)}>${station.name}</a>`
        }
      </p>
      ${buttonView(station === null ? 'Name a station' : 'New station', create)}`
  }

  #stepView(index: number, station: Station) {
    switch (index) {
      case 1:
        return this.#musicView(station)
      case 2:
        return this.#playlistView()
      case 3:
        return this.#onAirView(station)
      case 4:
        return this.#hearView(station)
      default:
        return embedView(station)
    }
  }

  #musicView({ short_name: name }: Station) {
    return html`<p>
        ${formatCount(this.#progress.songs, 'song')} so far.
        <a href=${stationLink(name, 'media')}>Media</a> lists them. Folders of the server are added with
        <code>npm run import</code>.
      </p>
      <media-upload .station=${name} @cuewire-uploaded=${this.#files.refresh}></media-upload>`
  }

  #playlistView() {
    const { songs, hasPlaylist } = this.#progress
    const create = () => this.#actions.run('playlist', () => this.#createRotation())
    return html`<p>The AutoDJ plays songs of playlists. A rotation of all songs is a good start.</p>
      ${
        hasPlaylist
          ? nothing
          : buttonView('Make a rotation of all songs', create, {
              isDisabled: songs === 0 || this.#actions.inFlight !== null
            })
      }`
  }

  async #createRotation(): Promise<string> {
    const station = this.#stationPath
    if (station === null) return ''
    const { id } = await callApi('POST', `${station}/playlists`, { body: { name: 'Rotation' } })
    // The top folder: a list of all songs would be too large for a large library.
    await callAction('PUT', `${station}/playlist/${id}/apply-to`, {
      body: { directories: [''] },
      timeoutMs: rotationTimeoutMs,
      refresh: this.#files.refresh
    })
    return 'The playlist “Rotation” has all songs, also those that are added later.'
  }

  #onAirView(station: Station) {
    const choose = (backend: string) => () =>
      this.#actions.run('backend', () =>
        callAction('PUT', `api/admin/station/${station.id}`, {
          body: { backend },
          refresh: this.#stations.refresh
        })
      )
    return html`<fieldset class="start-choices">
        <legend class="visually-hidden">How it goes on the air</legend>
        ${backends.map(
          ({ backend, title, text }) =>
            html`<label>
              <input
                type="radio"
                name="backend"
                .checked=${station.backend === backend}
                ?disabled=${this.#actions.inFlight !== null}
                @change=${choose(backend)}
              />
              <span><strong>${title}</strong><br />${text}</span>
            </label>`
        )}
      </fieldset>
      ${station.backend === 'liquidsoap' ? playoutSetupView(station.id, this.#actions) : nothing}
      ${
        station.backend === 'none'
          ? html`<p>
              Enter the address of the streaming server under
              <a href=${stationLink(station.short_name, 'settings')}>Settings</a>, Streaming
              server${station.frontend_url === '' ? '' : ` (now ${station.frontend_url})`}, or add a
              <a href=${stationLink(station.short_name, 'remotes')}>relay</a>.
            </p>`
          : nothing
      }`
  }

  #hearView({ id, short_name: name }: Station) {
    const remember = () => {
      storeOpenedPlayer(id)
      this.requestUpdate()
    }
    return html`<p>
      <a href="public/${encodeURIComponent(name)}" target="_blank" rel="noopener" @click=${remember}
        >Open the player</a
      >
      to hear it as listeners do. It plays the default
      <a href=${stationLink(name, 'mounts')}>mount</a>, which needs a streaming server.
    </p>`
  }
}

const laterView = html`<p class="quiet">After the first step.</p>`

const backends = [
  {
    backend: 'clock',
    title: 'Clock',
    text: 'Cuewire decides what plays and when. Nothing else has to run; to be heard, it needs a stream.'
  },
  {
    backend: 'liquidsoap',
    title: 'Liquidsoap on this machine',
    text: 'Liquidsoap plays the songs that Cuewire chooses, and sends the stream to Icecast.'
  },
  {
    backend: 'none',
    title: 'A radio that exists',
    text: 'Cuewire follows an Icecast or Shoutcast server, and shows its songs and listeners.'
  }
]

function embedView({ short_name: name }: Station) {
  const code = `<script type="module" src="${new URL('widget.js', serverBaseUrl).href}"></script>
<cuewire-now-playing station="${name}"></cuewire-now-playing>`
  return html`<p>
      Put this into a page of your website.
      <a href="public/${encodeURIComponent(name)}/widgets">More widgets</a>
    </p>
    <textarea
      class="field"
      rows="3"
      readonly
      aria-label="The code of the widget"
      .value=${code}
      @focus=${selectText}
    ></textarea>`
}

/** For those who copy it. */
function selectText({ target }: Event): void {
  if (target instanceof HTMLTextAreaElement) target.select()
}

addPageStyles(styles)
defineElements({ 'media-upload': MediaUpload, 'start-page': StartPage })
