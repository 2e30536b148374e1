import type { ReactiveControllerHost } from 'lit'

import { notify, refusalNotice } from './notice.ts'

/** What an element does for an operator. */
export interface Acting {
  /** The name of what is under way; null: nothing is. */
  readonly underWay: string | null
  /** Does it, unless something is under way; says how it went. What `work` gives is said, if it is not empty. */
  readonly act: (name: string, work: () => Promise<string>) => Promise<void>
}

/** Lets an element do one thing at a time, and draws it again when one begins and ends. */
export function actFor(host: ReactiveControllerHost & EventTarget): Acting {
  let underWay: string | null = null
  return {
    get underWay() {
      return underWay
    },
    act: async (name, work) => {
      if (underWay !== null) return
      underWay = name
      host.requestUpdate()
      try {
        const said = await work()
        if (said !== '') notify(host, { text: said, isBad: false })
      } catch (error) {
        notify(host, refusalNotice(error))
      } finally {
        underWay = null
        host.requestUpdate()
      }
    }
  }
}
