import { type Dialect, dialectNames } from './dialect.ts'
import { type NowPlayingDocument, type NowPlayingVariant, renderNowPlaying } from './now-playing.ts'
import type { StationState } from './state.ts'

/** Renders what a station shows. Who holds its documents does not know their form. */
export interface StationRenderer {
  readonly name: string
  /** As the REST API answers it. */
  readonly rest: (state: StationState) => NowPlayingDocument
  /** As clients of push and web hooks get it. */
  readonly event: (state: StationState) => NowPlayingDocument
}

const variants: Readonly<Record<Dialect, Readonly<Record<'rest' | 'event', NowPlayingVariant>>>> = {
  documented: { rest: 'rest', event: 'event' },
  azuracast: { rest: 'azuracast', event: 'azuracast event' }
}

/** Opens the renderer of a dialect, named after it. `baseUrl` has no trailing slash. */
export const openStationRenderer = (dialect: Dialect, baseUrl: string): StationRenderer => ({
  name: dialect,
  rest: state => renderNowPlaying(state, variants[dialect].rest, baseUrl),
  event: state => renderNowPlaying(state, variants[dialect].event, baseUrl)
})

/** Opens the renderers of all dialects, that of the installation first. */
export const openStationRenderers = (
  installed: Dialect,
  baseUrl: string
): readonly [StationRenderer, ...StationRenderer[]] => [
  openStationRenderer(installed, baseUrl),
  ...dialectNames.filter(each => each !== installed).map(each => openStationRenderer(each, baseUrl))
]
