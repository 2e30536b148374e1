import { html } from 'lit'

import type { Acting } from './acting.ts'
import { ask, done } from './ask.ts'

/** A button that sends a delivery again, which is at `path`; `readAgain` brings what becomes of it. */
export function againView(acting: Acting, path: string, readAgain: () => Promise<unknown>) {
  const send = () =>
    acting.act('send again', async () => {
      const { message } = await ask(done, `${path}/redeliver`, { method: 'POST' })
      await readAgain()
      return message
    })
  return html`<button
    type="button"
    class="link"
    ?disabled=${acting.underWay !== null}
    @click=${() => void send()}
  >
    Send again
  </button>`
}
