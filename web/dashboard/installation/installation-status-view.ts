import { html } from 'lit'

import { type InstallationStatus, installationProblems } from './installation-status.ts'

/** Stands above every view: nothing, or what is wrong with the installation. */
export function installationStatusView(standing: InstallationStatus) {
  return html`<div class="standing" role="status">
    ${installationProblems(standing).map(text => html`<p class="standing-text">${text}</p>`)}
  </div>`
}
