import { LitElement, type PropertyDeclarations } from 'lit'

import { type PolledResource, pollResource } from '../api/poll-resource.ts'
import type { ApiResponse, StationPath } from '../api/typed-response.ts'
import { isolateBidi } from './text.ts'
import { getZoneClock, type ZoneClock } from './time.ts'

/** An element without a shadow root: elements share one style sheet, and labels can refer to any element. */
export class LightElement extends LitElement {
  protected override createRenderRoot(): this {
    return this
  }
}

/** Defines custom elements by their names. Views that share an element both define it. */
export function defineElements(elements: Readonly<Record<string, CustomElementConstructor>>): void {
  for (const [name, element] of Object.entries(elements))
    if (customElements.get(name) === undefined) customElements.define(name, element)
}

/** Adds the styles of a view to the page. */
export function addPageStyles(text: string): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  document.adoptedStyleSheets.push(sheet)
}

/** Declares properties of a class whose changes render its elements again. They are not attributes. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the names are those of the class
export const reactiveProperties = <Owner extends LitElement>(
  ...names: readonly (keyof Owner & string)[]
): PropertyDeclarations => Object.fromEntries(names.map(name => [name, { attribute: false }]))

/** A part of the page of one station. */
export class StationElement extends LightElement {
  static override properties = reactiveProperties<StationElement>('station', 'zone', 'refreshKey')
  /** The id or short name. */
  declare station: string | number
  /** The time zone; set on elements that show times. */
  declare zone: string
  /** A new value means that the data of the station may have changed. */
  declare refreshKey: string

  /** The path of the station in the API. */
  protected get path(): StationPath {
    return `api/station/${encodeURIComponent(this.station)}`
  }

  /**
   * Polls a resource below the path of the station, and reads it again when the refresh key changes. A function
   * is evaluated at every update; null reads nothing.
   */
  protected poll<Subpath extends string>(
    subpath: Subpath | (() => Subpath | null),
    intervalMs: number
  ): PolledResource<ApiResponse<'GET', `${StationPath}/${Subpath}`>> {
    const path = () => {
      const evaluated = typeof subpath === 'string' ? subpath : subpath()
      return evaluated === null ? null : (`${this.path}/${evaluated}` as const)
    }
    return pollResource(this, { path, intervalMs, refreshKey: () => this.refreshKey })
  }

  protected get clock(): ZoneClock {
    return getZoneClock(this.zone)
  }
}

/** Sets the title of the page, which tabs and bookmarks show. */
export function setPageTitle(text: string): void {
  const title = `${isolateBidi(text)} · Cuewire`
  if (document.title !== title) document.title = title
}
