import { html } from 'lit'

import type { Chip } from '../web-hooks/hook.ts'

/** A state, with a mark for those who tell no colours apart. */
export const chipView = ({ text, mood }: Chip) => html`<span class="chip" data-mood=${mood}>${text}</span>`
