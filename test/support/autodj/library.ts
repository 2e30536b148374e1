import { newPlaylistSettings, newStationSettings } from '../../../src/commands/simulate/example-station.ts'
import type {
  AutodjRules,
  PlayOrRow,
  AutodjLibrary,
  PlaylistOption,
  LibraryPast,
  PendingRequest,
  Playlist,
  RemovedRow,
  QueueSlot
} from '../../../src/model/autodj/library.ts'
import type { PlannerInput, QueuedRow, RunningPlay } from '../../../src/model/autodj/queue-draft.ts'
import type { ScheduleItem } from '../../../src/model/autodj/schedule.ts'
import { getTimeZone } from '../../../src/model/autodj/time-zone.ts'
import { buildTrackColumns, type SongKeys, type TrackRow } from '../../../src/model/autodj/track-columns.ts'

export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** A Thursday, at noon in UTC. */
export const noonMs = Date.parse('2026-01-15T12:00:00Z')

/** `12:30` of that day in UTC, or any instant of ISO 8601. */
export function timeOf(text: string): number {
  return Date.parse(/^\d\d:\d\d(:\d\d)?$/.test(text) ? `2026-01-15T${text}Z` : text)
}

/** A song that is not a duplicate of any other number. */
export function aSong(number: number, parts: Partial<SongKeys> = {}): SongKeys {
  return { song: number, title: 1_000_000 + number, artists: [2_000_000 + number], ...parts }
}

/** A track whose song, media and id have the same number. */
export function aTrack(id: number, parts: Partial<TrackRow> = {}): TrackRow {
  return { ...aSong(id), id, media: id, durationMs: 3 * minuteMs, lastPass: 0, lastAiredMs: 0, ...parts }
}

/** A playlist with the settings of a new one, and three tracks by default. */
export interface PlaylistParts extends Partial<Omit<Playlist, 'options' | 'tracks'>> {
  readonly options?: readonly PlaylistOption[]
  readonly tracks?: readonly (number | TrackRow)[]
}

export function aPlaylist({ options = [], tracks, ...parts }: PlaylistParts = {}): Playlist {
  const id = parts.id ?? 1
  const rows = tracks ?? [1, 2, 3].map(number => id * 100 + number)
  return {
    id,
    name: `Playlist ${id}`,
    ...newPlaylistSettings,
    ...parts,
    options: new Set(options),
    tracks: buildTrackColumns(rows.map(row => (typeof row === 'number' ? aTrack(row) : row)))
  }
}

/** A daily schedule item. */
export function anItem(startTime: number, endTime: number, parts: Partial<ScheduleItem> = {}): ScheduleItem {
  return {
    id: 1,
    start_time: startTime,
    end_time: endTime,
    start_date: '',
    end_date: '',
    days: [],
    loop_once: false,
    ...parts
  }
}

export interface RuleParts extends Partial<Omit<AutodjRules, 'zone'>> {
  readonly zone?: string
}

function theRules({ zone = 'UTC', ...parts }: RuleParts = {}): AutodjRules {
  return {
    zone: getTimeZone(zone),
    seed: 7,
    ...newStationSettings,
    ...parts
  }
}

export interface LibraryParts {
  readonly rules?: RuleParts
  readonly playlists?: readonly Playlist[]
  readonly plays?: readonly PlayOrRow[]
  readonly older?: LibraryPast['older']
  readonly removed?: readonly RemovedRow[]
  readonly requests?: readonly PendingRequest[]
}

export function aLibrary({
  rules = {},
  playlists = [aPlaylist()],
  plays = [],
  older = new Map(),
  removed = [],
  requests = []
}: LibraryParts = {}): AutodjLibrary {
  return { rules: theRules(rules), playlists, past: { plays, older, removed }, requests }
}

/** A play of a song by number, from no playlist by default. */
export function aPlay(number: number, startsAtMs: number, parts: Partial<PlayOrRow> = {}): PlayOrRow {
  return {
    playlistId: null,
    trackId: null,
    mediaId: number,
    pass: 0,
    requestId: null,
    occurrenceMs: null,
    song: aSong(number),
    isVisible: true,
    isInterrupt: false,
    startsAtMs,
    durationMs: 3 * minuteMs,
    ...parts
  }
}

/** A play of a playlist that has a track of the number. */
export function aPlayOf(
  playlistId: number,
  number: number,
  startsAtMs: number,
  parts: Partial<PlayOrRow> = {}
): PlayOrRow {
  return aPlay(number, startsAtMs, { playlistId, trackId: number, pass: 1, ...parts })
}

export function aSlot(
  library: AutodjLibrary,
  atMs: number = noonMs,
  parts: Partial<QueueSlot> = {}
): QueueSlot {
  return { library, rowsBefore: [], rowsAfter: [], atMs, rejected: new Set(), ...parts }
}

export function aRequest(id: number, parts: Partial<PendingRequest> = {}): PendingRequest {
  return {
    id,
    mediaId: id,
    song: aSong(id),
    durationMs: 3 * minuteMs,
    dueAtMs: noonMs,
    skipsDelay: false,
    ...parts
  }
}

/** A row of the queue whose position and id are equal. */
export function aRow(position: number, play: PlayOrRow, parts: Partial<QueuedRow> = {}): QueuedRow {
  return {
    ...play,
    id: position,
    position,
    cuedAtMs: play.startsAtMs,
    isSent: false,
    isManual: false,
    batch: null,
    ...parts
  }
}

export interface SituationParts extends Partial<Omit<PlannerInput, 'running'>> {
  readonly running?: Partial<RunningPlay>
}

/** At noon, at the start of a play of three minutes. */
export function aSituation({ running = {}, ...parts }: SituationParts = {}): PlannerInput {
  const nowMs = parts.nowMs ?? noonMs
  return {
    library: aLibrary(),
    running: {
      startedAtMs: nowMs,
      endsAtMs: nowMs + 3 * minuteMs,
      playlistId: null,
      isInterrupt: false,
      ...running
    },
    nowMs,
    queue: [],
    queueLength: 3,
    rejected: new Set(),
    nextSeq: 1_000,
    ...parts
  }
}
