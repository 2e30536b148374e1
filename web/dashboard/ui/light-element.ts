import { LitElement } from 'lit'

/**
 * An element that draws into the document itself: one style sheet is for all, and labels find what they name.
 */
export class LightElement extends LitElement {
  protected override createRenderRoot(): this {
    return this
  }
}

/**
 * Letters that are written from right to left, and the marks that turn the direction of what follows them.
 */
const turning = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/
const isolating = /[\u2066-\u2069]/g

/** A name as part of a sentence, which it must not turn round. */
export function isolated(name: string): string {
  return turning.test(name) ? `\u2068${name.replace(isolating, '')}\u2069` : name
}
