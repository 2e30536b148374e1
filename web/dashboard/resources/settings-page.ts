import { html, nothing } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { loadBodySchema } from '../forms/body-schemas.ts'
import { toFormFields } from '../forms/form-field.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { type FieldSelection, RecordForm } from '../forms/record-form.ts'
import { showErrorNotice, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { defineElements, reactiveProperties } from '../ui/light-element.ts'
import { installationLink, stationLink } from '../ui/route.ts'
import { StationPage } from '../ui/station-page.ts'
import { playoutSetupView } from './playout-setup.ts'
import { type RecordContext, reloadRecord, removeRecord, saveRecord } from './record-actions.ts'
import { loadFormFields, loadRecord, type ResourceView } from './resource.ts'
import { openStationCopyForm } from './station-copy.ts'
import { stationsResourceView } from './stations.ts'

const profilePath = '/api/station/{station_id}/profile/edit'

/** The settings that station managers may change. */
const profile: ResourceView = {
  ...stationsResourceView,
  paths: { ...stationsResourceView.paths, one: profilePath },
  async openFields(fields, station) {
    const editable = toFormFields(await loadBodySchema('put', profilePath))
    const shown = fields.filter(({ name }) => editable.some(field => field.name === name))
    return stationsResourceView.openFields?.(shown, station) ?? (() => shown)
  }
}

/** The settings of a station, and its deletion. What is typed stays until it is saved. */
class SettingsPage extends StationPage {
  static override properties = reactiveProperties<SettingsPage>('loaded', 'problem')
  loaded: { readonly record: ApiRecord; readonly select: FieldSelection } | null = null
  problem = ''
  readonly #actions = openActionRunner(this)
  /** Whether the settings are being loaded, which needs the permissions. */
  #hasStarted = false

  protected override willUpdate(): void {
    if (this.#hasStarted || !this.permissions.isKnown) return
    this.#hasStarted = true
    void this.#load()
  }

  /** All settings for those who may change all, else those of the profile for those who may change these. */
  get #resource(): ResourceView {
    const { allows } = this.permissions
    if (allows('manageStations')) return stationsResourceView
    return allows('manageProfile') || !allows('viewStations') ? profile : stationsResourceView
  }

  protected override render() {
    const { loaded } = this
    if (loaded === null)
      return this.problem === ''
        ? html`<p class="quiet" aria-busy="true">…</p>`
        : html`<p class="trouble">
            ${this.problem} ${buttonView('Try again', () => this.#load(), { style: 'link' })}
          </p>`
    const { record, select } = loaded
    const canManage = this.permissions.allows('manageStations')
    const canSave = canManage || this.permissions.allows('manageProfile')
    const options = { isDisabled: this.#actions.inFlight !== null }
    return html`<div class="stack">
      ${record['backend'] === 'liquidsoap' ? playoutSetupView(Number(record['id']), this.#actions) : nothing}
      <section class="panel" aria-labelledby="settings">
        <header class="panel-head">
          <h2 class="heading" id="settings">Settings</h2>
          ${
            canManage
              ? html`${buttonView('Copy', () => this.#copy(record), options)}
                ${buttonView('Delete', () => this.#remove(record), options)}`
              : nothing
          }
        </header>
        <record-form
          .select=${select}
          .record=${record}
          .isNew=${false}
          .isReadOnly=${!canSave}
          .save=${(body: ApiRecord) => this.#save(body, record)}
          .load=${() => reloadRecord(this.#scene, record)}
        ></record-form>
      </section>
    </div>`
  }

  get #scene(): RecordContext {
    return {
      host: this,
      resource: this.#resource,
      station: String(this.np.station.id),
      refresh: () => this.#load()
    }
  }

  async #load(): Promise<void> {
    this.problem = ''
    try {
      const { id } = this.np.station
      const [record, select] = await Promise.all([
        loadRecord(this.#resource, String(id), String(id)),
        loadFormFields(this.#resource, String(id))
      ])
      this.loaded = { record, select }
    } catch (error) {
      this.problem = toApiRequestError(error).message
      if (this.loaded !== null) showErrorNotice(this, error)
    }
  }

  async #save(body: ApiRecord, record: ApiRecord): Promise<void> {
    await saveRecord(this.#scene, body, record)
    const name = this.loaded?.record['short_name']
    if (typeof name === 'string' && name !== record['short_name'])
      location.replace(stationLink(name, 'settings'))
  }

  #copy(record: ApiRecord): Promise<void> {
    return this.#actions.run('copy', async () => {
      await openStationCopyForm(record, shortName => {
        location.hash = stationLink(shortName, 'settings')
      })
      return ''
    })
  }

  #remove(record: ApiRecord): Promise<void> {
    return removeRecord({ ...this.#scene, refresh: leaveStation }, this.#actions, record)
  }
}

async function leaveStation(): Promise<void> {
  location.hash = installationLink('stations')
}

defineElements({ 'record-form': RecordForm, 'settings-page': SettingsPage })
