import { coverView } from '../../elements/cover-view.ts'
import { server } from '../api/call-api.ts'
import { keyOfTab } from '../api/key.ts'
import { LightElement } from '../ui/light-element.ts'

/**
 * A cover. That of a private station is asked for with the key, which an address of a picture could not carry
 * unseen.
 */
export class SongCover extends LightElement {
  static override properties = {
    address: { attribute: false },
    isPrivate: { attribute: false },
    made: { state: true }
  }
  declare address: string
  declare isPrivate: boolean
  /** The address of a picture that was asked for. */
  declare made: string
  #asked = ''

  constructor() {
    super()
    this.address = ''
    this.isPrivate = false
    this.made = ''
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#forget()
  }

  protected override willUpdate(): void {
    const wanted = this.isPrivate ? this.address : ''
    if (wanted === this.#asked) return
    this.#forget()
    this.#asked = wanted
    if (wanted !== '') void this.#fetch(wanted)
  }

  protected override render() {
    return coverView(this.isPrivate ? this.made : this.address)
  }

  async #fetch(address: string): Promise<void> {
    try {
      const { pathname } = new URL(address)
      const answer = await fetch(new URL(pathname, server), { headers: { 'X-API-Key': keyOfTab() } })
      const picture = await answer.blob()
      if (answer.ok && this.isConnected && this.#asked === address) this.made = URL.createObjectURL(picture)
    } catch {
      // The frame stays empty, as with any picture that cannot be had.
    }
  }

  #forget(): void {
    if (this.made !== '') URL.revokeObjectURL(this.made)
    this.made = ''
    this.#asked = ''
  }
}
