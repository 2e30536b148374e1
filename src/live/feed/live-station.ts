import { createHash } from 'node:crypto'

import type { CachedResponse } from '../../model/station/cached-response.ts'
import type { StationListing } from '../../model/station/live-view.ts'
import {
  elapsedSecondsAt,
  type NowPlayingDocument,
  renderElapsed,
  renderSongLine
} from '../../model/station/now-playing.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import {
  isStationOnline,
  type ListenerCounts,
  stationRevisionOf,
  type StationState
} from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { compressState, decompressState } from './compressed-state.ts'

/** Fields of a station that are readable while its state is compressed. */
type UncompressedFields = Pick<
  LiveStation,
  | 'stationId'
  | 'shortName'
  | 'isPublic'
  | 'listenTokenGeneration'
  | 'isOnline'
  | 'epoch'
  | 'revision'
  | 'dueAtMs'
> & { readonly renderer: StationRenderer }

/** Counts, and the offset with which they were published. */
type NewCounts = Pick<StationState, 'offset' | 'listeners'>

/**
 * One state of a station with its rendered documents. Each document is rendered when it is first requested;
 * its moving numbers once per second. A class rather than closures, to save memory: a server holds one for
 * each of up to 100,000 stations.
 */
export class LiveStation implements StationListing {
  readonly stationId: number
  readonly shortName: string
  readonly isPublic: boolean
  readonly listenTokenGeneration: number
  readonly isOnline: boolean
  readonly listeners: number
  readonly uniqueListeners: number
  readonly epoch: string
  readonly offset: number
  readonly revision: number
  /** When the workers end the current play; null: they do not. */
  readonly dueAtMs: number | null
  /** The default one. */
  readonly #renderer: StationRenderer
  /** The state, or its compressed form. Its offset and counts may be older ones. */
  #stored: StationState | string
  /** Counts that are newer than those of `#stored`; as JSON text if that is compressed. */
  readonly #newCounts: ListenerCounts | string | null
  #rest: Rendering | null = null
  #event: Rendering | null = null
  /** The documents of other renderers; null before one was requested. */
  #others: Map<StationRenderer, { rest: Rendering | null; event: Rendering | null }> | null = null
  #line: CachedResponse | null = null
  #isUsed = false

  private constructor(
    known: UncompressedFields,
    { offset, listeners }: NewCounts,
    stored: StationState | string,
    newCounts: ListenerCounts | string | null
  ) {
    this.stationId = known.stationId
    this.shortName = known.shortName
    this.isPublic = known.isPublic
    this.listenTokenGeneration = known.listenTokenGeneration
    this.isOnline = known.isOnline
    this.epoch = known.epoch
    this.revision = known.revision
    this.dueAtMs = known.dueAtMs
    this.#renderer = known.renderer
    this.offset = offset
    this.listeners = listeners.total
    this.uniqueListeners = listeners.unique
    this.#stored = stored
    this.#newCounts = newCounts
  }

  /** `renderer`: the default one. */
  static of(state: StationState, renderer: StationRenderer): LiveStation {
    const { stationId, profile, epoch, current } = state
    const fields = {
      stationId,
      shortName: profile.shortName,
      isPublic: profile.isPublic,
      listenTokenGeneration: profile.listenTokenGeneration ?? 0,
      isOnline: isStationOnline(state),
      epoch,
      revision: stationRevisionOf(state),
      dueAtMs: current?.dueAtMs ?? null,
      renderer
    }
    return new LiveStation(fields, state, state, null)
  }

  /** Returns the same state with newer counts. Does not decompress it. */
  withCounts(counts: NewCounts): LiveStation {
    const {
      stationId,
      shortName,
      isPublic,
      listenTokenGeneration,
      isOnline: isOn,
      epoch,
      revision,
      dueAtMs
    } = this
    const visibility = { stationId, isPublic, listenTokenGeneration }
    const fields = { ...visibility, shortName, isOnline: isOn, epoch, revision, dueAtMs }
    const { listeners } = counts
    const newCounts = typeof this.#stored === 'string' ? JSON.stringify(listeners) : listeners
    return new LiveStation({ ...fields, renderer: this.#renderer }, counts, this.#stored, newCounts)
  }

  /** The state. It is kept as an object, for further use. */
  get state(): StationState {
    this.#isUsed = true
    const state = this.read()
    this.#stored = state
    return state
  }

  /** Returns the state without keeping it as an object, for work on many stations. */
  read(): StationState {
    const state = typeof this.#stored === 'string' ? decompressState(this.#stored) : this.#stored
    const listeners = this.#newCounts
    if (listeners === null || state.offset === this.offset) return state
    return {
      ...state,
      offset: this.offset,
      listeners: typeof listeners === 'string' ? JSON.parse(listeners) : listeners
    }
  }

  /** The document of a renderer, for `GET /api/nowplaying/{id}` or `nowplaying_static/{id}.json`. */
  document(kind: 'rest' | 'event', nowSeconds: number, renderer: StationRenderer): CachedResponse {
    if (renderer === this.#renderer) return this.#renderingOf(kind).response(nowSeconds)
    this.#isUsed = true
    this.#others ??= new Map()
    const known = this.#others.get(renderer) ?? { rest: null, event: null }
    this.#others.set(renderer, known)
    known[kind] ??= new Rendering(this.read(), renderer[kind])
    return known[kind].response(nowSeconds)
  }

  /** The document of `GET /api/nowplaying_static/{id}.txt`. */
  line(): CachedResponse {
    this.#isUsed = true
    return (this.#line ??= cacheLine(this.read()))
  }

  /** The event rendering as text, for frames, rendered for `nowSeconds`. */
  eventText(nowSeconds: number): string {
    return this.#renderingOf('event').text(nowSeconds)
  }

  /**
   * The REST rendering as text and its entity tag, for lists, rendered for `nowSeconds`. `isKept`: whether
   * the rendered document is kept for further lists.
   */
  restElement(
    nowSeconds: number,
    { isKept, renderer }: { isKept: boolean; renderer: StationRenderer }
  ): { text: string; etag: string } {
    const isOwn = renderer === this.#renderer
    const known = !isOwn ? this.#others?.get(renderer)?.rest : isKept ? this.#renderingOf('rest') : this.#rest
    return (known ?? new Rendering(this.read(), renderer.rest)).element(nowSeconds)
  }

  /** Compresses the state and drops the documents. */
  compress(): void {
    if (typeof this.#stored !== 'string') this.#stored = compressState(this.read())
    this.#rest = null
    this.#event = null
    this.#others = null
    this.#line = null
  }

  /** Compresses the state if the station was not used since the call before. */
  compressUnlessUsed(): void {
    if (!this.#isUsed) this.compress()
    this.#isUsed = false
  }

  #renderingOf(kind: 'rest' | 'event'): Rendering {
    this.#isUsed = true
    const known = kind === 'rest' ? this.#rest : this.#event
    if (known !== null) return known
    const rendering = new Rendering(this.read(), this.#renderer[kind])
    if (kind === 'rest') this.#rest = rendering
    else this.#event = rendering
    return rendering
  }
}

function cacheLine(state: StationState): CachedResponse {
  const text = renderSongLine(state)
  return { body: Buffer.from(text), etag: createEtag(text), position: positionOf(state) }
}

const positionOf = ({ epoch, offset }: StationState) => ({ epoch, offset })

/** A document of a state. Cached texts stay valid while `elapsed` is unchanged. */
class Rendering {
  readonly #document: NowPlayingDocument
  readonly #position: CachedResponse['position']
  #hash: string | null = null
  #elapsed = -1
  #text: string | null = null
  #response: CachedResponse | null = null

  constructor(state: StationState, render: StationRenderer['rest']) {
    this.#document = render(state)
    this.#position = positionOf(state)
  }

  text(nowSeconds: number): string {
    this.#moveTo(nowSeconds)
    return (this.#text ??= this.#render(nowSeconds))
  }

  response(nowSeconds: number): CachedResponse {
    this.#moveTo(nowSeconds)
    if (this.#response !== null) return this.#response
    const body = Buffer.from(this.#text ?? this.#render(nowSeconds))
    return (this.#response = { body, etag: this.#etag(), position: this.#position })
  }

  element(nowSeconds: number) {
    this.#moveTo(nowSeconds)
    return { text: this.#text ?? this.#render(nowSeconds), etag: this.#etag() }
  }

  #moveTo(nowSeconds: number): void {
    const elapsed = elapsedSecondsAt(this.#document, nowSeconds)
    if (elapsed === this.#elapsed) return
    this.#elapsed = elapsed
    this.#text = null
    this.#response = null
  }

  #render(nowSeconds: number): string {
    const { head, tail } = this.#document
    return head + renderElapsed(this.#document, nowSeconds) + tail
  }

  #etag(): string {
    this.#hash ??= hashOf(this.#document.head, this.#document.tail)
    return `W/"${this.#hash}-${this.#elapsed}"`
  }
}

/** The engine's time in whole Unix seconds. */
export const engineTimeSeconds = () => Math.floor(engineTimeMs() / 1000)

/** The weak entity tag of these texts together. */
export const createEtag = (...texts: readonly string[]) => `W/"${hashOf(...texts)}"`

/** A hash of 16 characters of these texts and their boundaries. */
function hashOf(...texts: readonly string[]): string {
  const hash = openTextHash()
  for (const text of texts) hash.add(text)
  return hash.digest()
}

/** Computes `hashOf` text by text. */
export function openTextHash() {
  const hash = createHash('sha1')
  return {
    add: (text: string) => void hash.update(`${Buffer.byteLength(text)}:`).update(text),
    digest: () => hash.digest('base64url').slice(0, 16)
  }
}
