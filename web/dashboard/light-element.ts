import { LitElement } from 'lit'

/** An element that draws into the document itself: one style sheet is for all, and labels find what they name. */
export class LightElement extends LitElement {
  protected override createRenderRoot(): this {
    return this
  }
}
