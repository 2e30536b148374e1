import { coverView } from '../../elements/cover-view.ts'
import { requestApiFile } from '../api/call-api.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** A cover. That of a private station is fetched with the key in a header, which `img` cannot send. */
export class SongCover extends LightElement {
  static override properties = reactiveProperties<SongCover>('address', 'isPrivate', 'blobUrl')
  address = ''
  isPrivate = false
  /** The URL of the fetched cover; '' if there is none. */
  blobUrl = ''
  #fetchedAddress = ''

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#release()
  }

  protected override willUpdate(): void {
    const address = this.isPrivate ? this.address : ''
    if (address === this.#fetchedAddress) return
    this.#release()
    this.#fetchedAddress = address
    if (address !== '') void this.#fetch(address)
  }

  protected override render() {
    return coverView(this.isPrivate ? this.blobUrl : this.address)
  }

  async #fetch(address: string): Promise<void> {
    try {
      const blob = await (await requestApiFile(new URL(address).pathname)).blob()
      const isCurrent = this.isConnected && this.#fetchedAddress === address
      if (isCurrent) this.blobUrl = URL.createObjectURL(blob)
    } catch {
      // The frame stays empty.
    }
  }

  #release(): void {
    if (this.blobUrl !== '') URL.revokeObjectURL(this.blobUrl)
    this.blobUrl = ''
    this.#fetchedAddress = ''
  }
}
