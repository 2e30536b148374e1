import { html } from 'lit'

import { callApi, downloadFile } from '../api/call-api.ts'
import { openSecretDialog } from '../forms/form-dialog.ts'
import type { ActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'

/** The script for the Liquidsoap of a station, and the key that the script reads from its environment. */
export function playoutSetupView(station: number, actions: ActionRunner) {
  const options = { isDisabled: actions.inFlight !== null }
  const download = async () => {
    await downloadFile(`api/admin/station/${station}/liquidsoap`, `station-${station}.liq`)
    return ''
  }
  const replaceKey = async () => {
    const { playout_key: key } = await callApi('POST', `api/station/${station}/playout-key`)
    openSecretDialog('The key of the playout', key)
    return ''
  }
  const question = {
    title: 'Replace the key of the playout?',
    text: 'A playout that runs with the former key is refused until it gets the new one.',
    verb: 'Replace'
  }
  return html`<section class="panel" aria-labelledby="playout">
    <header class="panel-head">
      <h2 class="heading" id="playout">Liquidsoap</h2>
      ${buttonView('Download the script', () => actions.run('script', download), options)}
      ${buttonView('New key', () => actions.run('key', replaceKey, question), options)}
    </header>
    <p class="quiet">
      Start it with <code>CUEWIRE_PLAYOUT_KEY</code> (the key) and <code>ICECAST_SOURCE_PASSWORD</code> set:
      <code>liquidsoap station-${station}.liq</code>. With Liquidsoap and Icecast on this machine,
      <code>npm run radio</code> does all of this.
    </p>
  </section>`
}
