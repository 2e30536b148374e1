import { asRefusal } from '../api/api-error.ts'

/** Something to say to the operator in passing. */
export interface Notice {
  readonly text: string
  readonly isBad: boolean
  /** It is no news any more once the server answers again. */
  readonly isOfSilence?: boolean
}

const name = 'cuewire-notice'

/** Why something was not done. */
export function refusalNotice(error: unknown): Notice {
  const { message, status } = asRefusal(error)
  return { text: message, isBad: true, isOfSilence: status === 0 }
}

/** Says something, from an element of the page. */
export function notify(from: EventTarget, notice: Notice): void {
  from.dispatchEvent(new CustomEvent(name, { detail: notice, bubbles: true, composed: true }))
}

/** Hears what the elements below this one have to say. */
export function onNotice(at: EventTarget, hear: (notice: Notice) => void): void {
  at.addEventListener(name, event => {
    if (event instanceof CustomEvent) hear(event.detail)
  })
}
