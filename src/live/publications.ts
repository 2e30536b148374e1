import { grantsListening, type ListenGrant } from '../model/station/listen-grant.ts'
import type { Trigger } from '../model/station/triggers.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { renderMergePatch } from './deltas.ts'
import type { Feed } from './feed/feed.ts'
import { engineTimeSeconds, type LiveStation } from './feed/live-station.ts'
import {
  type EncodedFrame,
  encodeFrame,
  renderDeltaFrame,
  renderPublicationFrame,
  type DocumentSnapshot
} from './frames.ts'
import { parseStationChannel } from './protocol.ts'
import type { Channel } from './session.ts'

/** Maximum number of former states for which a delta is rendered. */
const maxBases = 4

/** A song that plays this much longer than planned means that the engine stopped; the sweep ends songs. */
const overdueMs = 15_000

/** Whether the song of a station is over and was not ended, so that its state is stale. */
export const isSongOverdue = ({ dueAtMs }: Pick<LiveStation, 'dueAtMs'>, nowMs: number): boolean =>
  nowMs >= (dueAtMs ?? Infinity) + overdueMs

export type Publications = ReturnType<typeof openPublications>

export type RenderedPublication = ReturnType<Publications['render']>

/** What channels show, and the publications of it. */
export function openPublications(feed: Feed) {
  /** Returns the station that a channel shows; undefined if it does not exist. */
  function find({ name, shown }: Channel): LiveStation | undefined {
    const newest = feed.find(parseStationChannel(name) ?? '')
    return newest === undefined ? undefined : (shown ?? newest)
  }

  const isPublic = (stationId: number) => feed.get(stationId)?.isPublic ?? false

  /** Whether a listen token is valid for a station now. */
  function isGranted(grant: ListenGrant, stationId: number): boolean {
    const newest = feed.get(stationId)
    return newest !== undefined && grantsListening(grant, newest, engineTimeMs())
  }

  /**
   * Like `find`; null unless the station is public or among `allowed`. A station that becomes private is
   * hidden at once, whatever a delayed channel shows.
   */
  function findVisible(channel: Channel, allowed: ReadonlySet<number>): LiveStation | null {
    const station = find(channel)
    if (station === undefined) return null
    const { stationId } = station
    return isPublic(stationId) || allowed.has(stationId) ? station : null
  }

  /**
   * Returns since when, in Unix seconds, a state may be out of date: Redis is unavailable, or a song that is
   * over was not ended. Null if the state is current.
   */
  function staleSince({ stationId }: LiveStation): number | null {
    if (!feed.isCurrent()) return Math.floor(feed.health().checkedAtMs / 1_000)
    const newest = feed.get(stationId)
    if (newest === undefined || !isSongOverdue(newest, engineTimeMs())) return null
    return Math.floor((newest.dueAtMs ?? 0) / 1_000)
  }

  function snapshotAt(station: LiveStation, nowSeconds: number): DocumentSnapshot {
    const { epoch, offset } = station
    const document = station.eventText(nowSeconds)
    return { epoch, offset, document, nowSeconds, staleSince: staleSince(station) }
  }

  /** The full publication of a state; without triggers, the one that was rendered in the same second. */
  function renderFull(
    channel: Channel,
    station: LiveStation,
    nowSeconds: number,
    triggers: ReadonlySet<Trigger>
  ): EncodedFrame {
    const { repeated } = channel
    const isRepetition = triggers.size === 0
    const snapshot = snapshotAt(station, nowSeconds)
    const isSame = repeated?.station === station && repeated.nowSeconds === nowSeconds
    if (isRepetition && isSame && repeated.staleSince === snapshot.staleSince) return repeated.frame
    const frame = encodeFrame(renderPublicationFrame(channel.name, snapshot, triggers))
    if (isRepetition) channel.repeated = { station, nowSeconds, staleSince: snapshot.staleSince, frame }
    return frame
  }

  /** Renders one state of a channel for its subscribers; frames when they are first needed. */
  function render(channel: Channel, station: LiveStation, triggers: ReadonlySet<Trigger>) {
    const { offset } = station
    const nowSeconds = engineTimeSeconds()
    const deltas = new Map<LiveStation, EncodedFrame>()
    let full: EncodedFrame | null = null

    const fullFrame = () => (full ??= renderFull(channel, station, nowSeconds, triggers))

    function renderDeltaTo(base: LiveStation): EncodedFrame {
      const patch = renderMergePatch(base, station, nowSeconds)
      if (patch === null) return fullFrame()
      const delta = encodeFrame(renderDeltaFrame(channel.name, { patch, nowSeconds, offset }, triggers))
      return delta.bytes.length < fullFrame().bytes.length ? delta : fullFrame()
    }

    /**
     * The delta to `base`; the full publication if `base` is null, if it is shorter, or if there are many
     * bases: most clients have the same state.
     */
    function deltaFrame(base: LiveStation | null): EncodedFrame {
      if (base === null) return fullFrame()
      const known = deltas.get(base)
      if (known !== undefined) return known
      if (deltas.size === maxBases) return fullFrame()
      const frame = renderDeltaTo(base)
      deltas.set(base, frame)
      return frame
    }

    // Stale states are sent in full, and so is the first one after them.
    return { station, isStale: staleSince(station) !== null, fullFrame, deltaFrame }
  }

  /** A station's state for the frames, rendered for the current second. */
  const snapshotOf = (station: LiveStation) => snapshotAt(station, engineTimeSeconds())

  return { find, findVisible, isPublic, isGranted, staleSince, render, snapshotOf }
}
